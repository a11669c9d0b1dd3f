package guard

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// TestKeywordInsideMatch walks every expression together with its keywords and derives for which rules a match can be
// without any keyword: only the other ones may be run on windows around keywords.
func TestKeywordInsideMatch(t *testing.T) {
	set, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.rules {
		var words []string
		for _, k := range r.keywords {
			words = append(words, set.keywords.words[k])
		}
		outside := canAvoid(t, r.pattern, words)
		if outside != keywordOutside[r.id] {
			c, _ := r.compile()
			t.Errorf("%s: a match without keyword is possible = %v, scope %v", r.id, outside, c.scope)
		}
		for _, k := range r.needs {
			if w := set.keywords.words[k]; canAvoid(t, r.pattern, []string{w}) {
				t.Errorf("%s: a match without %q is possible", r.id, w)
			}
		}
	}
}

// TestGenericRuleHasItsForm checks what scope.go takes for granted about the dearest rule.
func TestGenericRuleHasItsForm(t *testing.T) {
	set, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(set.rules, func(r *rule) bool { return r.id == genericRule })
	r := set.rules[i]
	name, value, ok := strings.Cut(r.pattern, `(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`)
	if !ok || !strings.HasPrefix(name, `(?i)[\w.-]{0,50}?`) {
		t.Fatalf("the rule has changed: %s", r.pattern)
	}
	var words []string
	for _, k := range r.keywords {
		words = append(words, set.keywords.words[k])
	}
	if canAvoid(t, name, words) {
		t.Errorf("a name need not contain a keyword: %s", name)
	}
	tree, err := syntax.Parse(value, syntax.Perl|syntax.FoldCase)
	if err != nil || !isOneToken(tree) {
		t.Errorf("a value can contain white space (%v): %s", err, value)
	}
}

// canAvoid reports whether the expression matches some text that contains none of the words: it searches the product
// of the expression's program and the automaton that recognises the words.
func canAvoid(t *testing.T, pattern string, words []string) bool {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	alphabet := "\x00" // stands for everything that no word has
	for _, w := range words {
		for i := range w {
			if !strings.Contains(alphabet, w[i:i+1]) {
				alphabet += w[i : i+1]
			}
		}
	}
	// A state is the longest beginning of a word that the text ends with.
	step := func(state string, c byte) (string, bool) {
		text := state + string(c)
		for _, w := range words {
			if strings.HasSuffix(text, w) {
				return "", true
			}
		}
		for i := range text {
			for _, w := range words {
				if strings.HasPrefix(w, text[i:]) {
					return text[i:], false
				}
			}
		}
		return "", false
	}
	type node struct {
		pc    uint32
		state string
	}
	memo := make(map[node]string)
	done := map[node]bool{}
	todo := []node{{uint32(prog.Start), ""}}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if done[n] {
			continue
		}
		done[n] = true
		in := &prog.Inst[n.pc]
		switch in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, node{in.Out, n.state}, node{in.Arg, n.state})
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			todo = append(todo, node{in.Out, n.state})
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for i := range alphabet {
				c := alphabet[i]
				switch {
				case c == 0 && !matchesOther(in, alphabet), c != 0 && !in.MatchRune(rune(c)) && !in.MatchRune(rune(strings.ToUpper(string(c))[0])):
					continue
				}
				key := node{uint32(c), n.state}
				next, ok := memo[key]
				if !ok {
					found := false
					if next, found = step(n.state, c); found {
						next = "found"
					}
					memo[key] = next
				}
				if next != "found" {
					todo = append(todo, node{in.Out, next})
				}
			}
		}
	}
	return false
}

// matchesOther reports whether the instruction accepts an ASCII character that is not in the alphabet. Characters that
// fold to ASCII do not count: no issuer writes a key with the Kelvin sign.
func matchesOther(in *syntax.Inst, alphabet string) bool {
	for c := rune(1); c < 128; c++ {
		if !strings.Contains(alphabet, strings.ToLower(string(c))) && in.MatchRune(c) {
			return true
		}
	}
	return false
}
