// Package stdio serves an mcp-go server over a pair of byte streams, one JSON-RPC message a line, and keeps
// the promises that mcp-go's own stdio server does not:
//
//   - Order. Notifications, initialize and ping are handled in the order in which they arrive, on the reader;
//     other requests run beside each other, a bounded number at once, so neither a slow call nor many of them
//     hold up a ping, a cancel or the client's answer to a question of ours for more than a millisecond.
//   - Nothing is dropped. All output goes through one queue to one writer. What a handler sent is queued before
//     its reply is; a client that reads slowly slows the handler down instead of losing its notifications.
//   - A cancel counts from the moment the call was read, even if no worker has it yet. A cancelled call is sent
//     nothing more. Calls are told apart by their raw JSON id, so 9 and "9" are two calls.
//   - End of input is not the end of work: calls get [Options.Grace] to finish and their replies are written.
//   - A client that stops reading, or goes away, ends the session; it costs bounded memory and time before that.
//   - One bad message (malformed, too long, a panic in its handler) costs an error reply and nothing else.
//
// Both protocol eras work over it: the handshake (2024-11-05 to 2025-11-25), where the server may ask the client
// for roots, sampling and elicitation, and the stateless 2026-07-28, where it may not and each request carries
// the client's identity and capabilities.
//
// The package uses only mcp-go's public API: MCPServer.RegisterSession, WithContext and HandleMessage. A handler
// finds its own session, one per call, with server.ClientSessionFromContext.
//
// Note for commands: on Unix a write to a closed standard output kills a Go program by SIGPIPE before the write
// returns EPIPE. Call signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) first; signal.Ignore also works, but
// is inherited by the processes that the command starts.
package stdio
