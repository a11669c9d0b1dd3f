package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// codeOverloaded is the first of JSON-RPC's codes for a server's own errors (-32000 to -32099).
const codeOverloaded = -32000

var nullID = json.RawMessage("null")

// encodeReply writes mcp-go's answer with the id exactly as the client sent it. mcp-go has passed it through a
// float64, where 9007199254740993 becomes another number. What cannot be encoded is still answered.
func encodeReply(id json.RawMessage, reply mcp.JSONRPCMessage, code *codedError) (line []byte) {
	defer func() {
		if v := recover(); v != nil {
			line = errorLine(id, mcp.INTERNAL_ERROR, fmt.Sprintf("internal error: encoding the result: panic: %v", v), nil)
		}
	}()
	var err error
	switch m := reply.(type) {
	case mcp.JSONRPCResponse:
		line, err = resultLine(id, m.Result)
	case *mcp.JSONRPCResponse:
		line, err = resultLine(id, m.Result)
	case mcp.JSONRPCError:
		if code != nil {
			return errorLine(id, code.code, m.Error.Message, code.data)
		}
		return errorLine(id, m.Error.Code, m.Error.Message, m.Error.Data)
	default:
		line, err = encodeLine(m)
	}
	if err != nil {
		return errorLine(id, mcp.INTERNAL_ERROR, fmt.Sprintf("internal error: the result cannot be encoded: %v", err), nil)
	}
	return line
}

func resultLine(id json.RawMessage, result any) ([]byte, error) {
	r, raw, ok := toolResult(result)
	if ok {
		if text, plain := plainText(r); plain {
			return plainResultLine(id, text, raw, r.IsError), nil
		}
	}
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.Write(id)
	b.WriteString(`,"result":`)
	if ok {
		if err := writeToolResult(&b, r, raw); err != nil {
			return nil, err
		}
	} else if m, ok := result.(json.Marshaler); ok { // its own encoding is taken as it is: to encode it again costs as much as making it
		own, err := m.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b.Write(own)
	} else {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(result); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// plainResultLine writes the result of a tool that is a text and a structured part. Its members stand in the order in
// which mcp-go writes them.
func plainResultLine(id json.RawMessage, text string, raw json.RawMessage, failed bool) []byte {
	const around = `{"jsonrpc":"2.0","id":,"result":{"content":[{"type":"text","text":}],"isError":true,"structuredContent":}}` + "\n"
	b := make([]byte, 0, len(around)+len(id)+len(text)+len(text)/8+len(raw))
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), id...)
	b = appendQuoted(append(b, `,"result":{"content":[{"type":"text","text":`...), text)
	b = append(b, `}]`...)
	if failed {
		b = append(b, `,"isError":true`...)
	}
	b = append(append(b, `,"structuredContent":`...), raw...)
	return append(b, "}}\n"...)
}

// structured is a structured result, encoded, that stands in for another one. Inside of a
// string its quotation marks would be escaped.
const structured = `"structuredContent":"@"`

// toolResult gives the result of a tool whose structured part is encoded already.
func toolResult(result any) (r mcp.CallToolResult, raw json.RawMessage, ok bool) {
	switch m := result.(type) {
	case mcp.CallToolResult:
		r = m
	case *mcp.CallToolResult:
		if m == nil {
			return r, nil, false
		}
		r = *m
	default:
		return r, nil, false
	}
	raw, ok = r.StructuredContent.(json.RawMessage)
	return r, raw, ok && len(r.RawStructuredContent) == 0 && len(raw) > 0 && bytes.IndexByte(raw, '\n') < 0
}

// writeToolResult encodes it without encoding its structured part again, which is most of
// what there is, and was checked.
func writeToolResult(b *bytes.Buffer, r mcp.CallToolResult, raw json.RawMessage) error {
	r.StructuredContent = json.RawMessage(`"@"`)
	around, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	at := bytes.LastIndex(around, []byte(structured))
	if at < 0 {
		return fmt.Errorf("the result has no structured part")
	}
	at += len(structured) - len(`"@"`)
	b.Grow(len(around) + len(raw) + len("}\n"))
	b.Write(around[:at])
	b.Write(raw)
	b.Write(around[at+len(`"@"`):])
	return nil
}

func errorLine(id json.RawMessage, code int, message string, data any) []byte {
	if len(id) == 0 {
		id = nullID
	}
	body := struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Data    any    `json:"data,omitempty"`
		} `json:"error"`
	}{JSONRPC: mcp.JSONRPC_VERSION, ID: id}
	body.Error.Code, body.Error.Message, body.Error.Data = code, message, data
	line, err := encodeLine(body)
	if err != nil {
		body.Error.Data = nil // the rest is a checked id, a number and a string
		line, _ = encodeLine(body)
	}
	return line
}

// codedError is what WithCode leaves for the reply.
type codedError struct {
	code int
	data any
}

// WithCode makes the JSON-RPC error that err becomes carry code and data (nil for none), and returns err. mcp-go has
// one code, -32603, for every error of a handler. Use: return nil, stdio.WithCode(ctx, err, mcp.INVALID_PARAMS, nil).
// Outside a call over this transport it changes nothing.
func WithCode(ctx context.Context, err error, code int, data any) error {
	if c, ok := server.ClientSessionFromContext(ctx).(*call); ok && err != nil {
		c.code.Store(&codedError{code, data})
	}
	return err
}
