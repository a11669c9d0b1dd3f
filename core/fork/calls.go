package fork

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"mem/core/memdir"
	"mem/core/model"
)

const (
	// maxCallsAtOnce bounds the calls of one reply. Clients' models make a dozen.
	maxCallsAtOnce = 64
	// parallelCalls is how many reads run at the same time: they wait for the disk, and a
	// job is not to take a machine for itself.
	parallelCalls = 4
	// maxResult bounds what one call gives to the model, in bytes. The gate's own bounds
	// are narrower.
	maxResult = 256 << 10
	// maxRefusals bounds those that an outcome lists.
	maxRefusals = 100
	// maxToolName is what the APIs take for the name of a tool, in characters.
	maxToolName = 64
)

// reads are the tools that change nothing, so that several of one reply may run at the
// same time. Whatever is not among them runs in the order in which the model asked.
var reads = map[string]bool{"Read": true, "Grep": true, "Glob": true, "Bash": true}

// call is one call of a reply and what became of it.
type call struct {
	id    string
	name  string // as the model wrote it
	input json.RawMessage
	line  string // for people

	wrong  string // why it is not made, for the model
	ran    bool   // the tools were asked
	fault  bool   // they panicked
	called Called
}

// take adds a reply to the conversation and gives what it says and the calls that it
// asks for. What would make the next request invalid is mended: ids that are missing or
// there twice, names and inputs that no API takes back, blocks without anything in them.
func (r *run) take(reply *model.Reply) (said string, calls []*call) {
	var blocks []model.Block
	var texts []string
	for _, b := range reply.Blocks {
		switch {
		case b.Call != nil:
			c := r.newCall(*b.Call)
			calls = append(calls, c)
			blocks = append(blocks, model.Block{Call: &model.Call{ID: c.id, Name: plainName(c.name), Input: c.input}})
		case b.Text != "":
			if t := strings.TrimSpace(b.Text); t != "" {
				texts = append(texts, t)
				blocks = append(blocks, b)
			}
		case len(b.Opaque) > 0:
			blocks = append(blocks, b)
		}
	}
	if reply.Stop == model.StopLength && len(calls) > 0 && reply.Blocks[len(reply.Blocks)-1].Call != nil {
		// Half a text that is still a JSON object would be written as if it were whole.
		calls[len(calls)-1].wrong = "This call was cut off at the length limit of your reply, so it was not made. Make it again, shorter or in a reply of its own."
	}
	for len(blocks) > 0 && len(blocks[len(blocks)-1].Opaque) > 0 { // no API takes a message back that ends with one
		blocks = blocks[:len(blocks)-1]
	}
	if len(blocks) > 0 {
		r.messages = append(r.messages, model.Message{Role: model.Assistant, Blocks: blocks})
	}
	return strings.Join(texts, "\n\n"), calls
}

func (r *run) newCall(from model.Call) *call {
	c := &call{id: from.ID, name: from.Name, input: bytes.TrimSpace(from.Input)}
	if c.id == "" || r.ids[c.id] {
		c.id = fmt.Sprintf("call_%d_%d", r.out.Turns, len(r.ids))
	}
	r.ids[c.id] = true
	if len(c.input) == 0 || string(c.input) == "null" {
		c.input = json.RawMessage("{}")
	}
	if !isObject(c.input) {
		c.wrong = "The input of this call is no JSON object, so it was not made. It was: " + memdir.Shown(string(c.input), 200)
		c.input = json.RawMessage("{}")
	}
	c.line = r.callLine(c.name, c.input)
	return c
}

func isObject(raw []byte) bool {
	return len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}

// plainName gives the name of a tool as the APIs take it back.
func plainName(name string) string {
	var b strings.Builder
	for _, c := range name {
		if b.Len() == maxToolName {
			break
		}
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			b.WriteRune(c)
		} else {
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "unnamed"
	}
	return b.String()
}

// make makes the calls of a reply and gives their results in the order of the calls.
func (r *run) make(ctx context.Context, stop model.Stop, calls []*call) []model.Block {
	if len(calls) == 0 {
		return nil
	}
	if stop == model.StopRefused {
		for _, c := range calls {
			c.wrong = "You declined to go on."
		}
	}
	todo := r.allowed(calls)
	parallel := true
	for _, c := range todo {
		parallel = parallel && reads[c.name]
	}
	var read atomic.Int64
	read.Store(r.out.Read)
	one := func(c *call) {
		if most := r.task.Limits.ReadBytes; most > 0 && read.Load() >= most && reads[c.name] {
			c.wrong = "Not made: what you may read in all is used up."
			return
		}
		if ctx.Err() != nil {
			c.wrong = "Not made: the run is over."
			return
		}
		c.ran = true
		got, err := within(ctx, func() (Called, error) { return r.task.Tools.Call(ctx, c.name, c.input), nil })
		if err != nil {
			c.wrong, c.fault = "This call came to no end: "+err.Error(), errors.Is(err, errPanicked)
		}
		c.called = got
		read.Add(got.Read)
	}
	if parallel {
		together(todo, one)
	} else {
		for _, c := range todo {
			one(c)
		}
	}
	results := make([]model.Block, 0, len(calls))
	for _, c := range calls {
		results = append(results, r.settle(c))
	}
	return results
}

// allowed gives the calls that may be made, and says of the others why not.
func (r *run) allowed(calls []*call) []*call {
	most, why := maxCallsAtOnce, fmt.Sprintf("Not made: at most %d calls in one reply.", maxCallsAtOnce)
	if l := r.task.Limits.ToolCalls; l > 0 && l-r.out.ToolCalls < most {
		most, why = max(l-r.out.ToolCalls, 0), "Not made: the tool calls that you may make are used up."
	}
	var todo []*call
	for _, c := range calls {
		switch {
		case c.wrong != "":
		case len(todo) >= most:
			c.wrong = why
		default:
			todo = append(todo, c)
		}
	}
	return todo
}

func together(calls []*call, one func(*call)) {
	var wg sync.WaitGroup
	free := make(chan struct{}, parallelCalls)
	for _, c := range calls {
		free <- struct{}{}
		wg.Go(func() {
			one(c)
			<-free
		})
	}
	wg.Wait()
}

// settle counts a call and gives its result for the model.
func (r *run) settle(c *call) model.Block {
	if c.ran {
		r.out.ToolCalls++
		r.out.Read += c.called.Read
		for _, p := range c.called.Touched {
			r.touched[p] = true
		}
	}
	text, refused := c.called.Text, c.called.Failed
	if c.wrong != "" {
		text, refused = c.wrong, true
		if c.fault {
			r.end(EndFailed, fmt.Sprintf("the tool %s failed in a way that is a fault of mem: %s", memdir.ShownName(c.name), memdir.Shown(c.wrong, 300)))
		}
	}
	if why := c.called.Refused; why != "" {
		refused = true
		if strings.TrimSpace(text) == "" {
			text = why
		}
		r.refused(c, why)
	}
	if len(text) > maxResult {
		text = strings.ToValidUTF8(text[:maxResult], "") + fmt.Sprintf("\n[%d more bytes are left out]", len(text)-maxResult)
	}
	if strings.TrimSpace(text) == "" {
		text = "(nothing)" // some servers take no empty result
	}
	return model.Block{Result: &model.Result{ID: c.id, Text: text, Refused: refused}}
}

// refused notes what the gate refused.
func (r *run) refused(c *call, why string) {
	switch n := len(r.out.Refused); {
	case n < maxRefusals:
		r.out.Refused = append(r.out.Refused, Refusal{Turn: r.out.Turns, Tool: memdir.Shown(c.name, maxToolName), Input: r.line(string(c.input), maxInputLine), Reason: r.line(why, maxInputLine)})
	case n == maxRefusals:
		r.out.Refused = append(r.out.Refused, Refusal{Turn: r.out.Turns, Tool: "more", Reason: fmt.Sprintf("later refusals are not listed: there are more than %d", maxRefusals)})
	}
}

func anyRan(calls []*call) bool {
	for _, c := range calls {
		if c.ran {
			return true
		}
	}
	return false
}

func anyWorked(calls []*call) bool {
	for _, c := range calls {
		if c.ran && c.wrong == "" && c.called.Refused == "" && !c.called.Failed {
			return true
		}
	}
	return false
}

func firstText(results []model.Block) string {
	for _, b := range results {
		if b.Result != nil {
			return b.Result.Text
		}
	}
	return ""
}

// fingerprint is the same for the same calls with the same results.
func fingerprint(calls []*call, results []model.Block) string {
	h := sha256.New()
	for i, c := range calls {
		fmt.Fprintf(h, "%q %q %q\n", c.name, c.input, results[i].Result.Text)
	}
	return string(h.Sum(nil))
}
