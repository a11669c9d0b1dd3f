package guard

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// pathRules are the rules that gitleaks ties to the name of the scanned file. A memory quotes such files in a fence,
// so their patterns are used without the name. hashicorp-tf-password is left out: without the name of a Terraform
// file it takes every quoted word of 8 to 20 letters after "password" for a secret.
var pathRules = map[string]bool{
	"freemius-secret-key":    true,
	"kubernetes-secret-yaml": true,
	"nuget-config-password":  true,
	"hashicorp-tf-password":  false,
}

// alsoNeeded are words without which a rule cannot match, beyond its keywords. The keyword of this one is "secret", and
// it costs 0.04 ms per KB of any text that talks of secrets.
var alsoNeeded = map[string][]string{
	"kubernetes-secret-yaml": {"kind:", "data:"},
}

// ruleSet is the default configuration of the gitleaks library. Rules keep the order of that file, so that results
// do not depend on chance.
type ruleSet struct {
	rules    []*rule
	keywords *keywordFinder
	allow    func() ([]*config.Allowlist, error) // exceptions of all rules
	windows  *memo[[][]int32]
	regions  *memo[[]hit]
}

// rule is one gitleaks rule, compiled at first use.
type rule struct {
	id, description string
	pattern         string
	group           int     // of the pattern, the secret; 0: the first that is not empty, else the match
	entropy         float64 // bits per byte that the secret must exceed; 0: any
	keywords        []int   // one of them must occur
	needs           []int   // all of them must occur too
	compile         func() (*compiled, error)
}

type compiled struct {
	re    *regexp.Regexp
	scope scope
	allow []*config.Allowlist
}

// loadRules reads the rules that the library embeds. go-toml takes 1.1 ms for them; viper, with which gitleaks reads
// them, 9 ms.
func loadRules() (*ruleSet, error) {
	var file config.ViperConfig
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		return nil, fmt.Errorf("reading the rules of the gitleaks library: %w", err)
	}
	set := &ruleSet{keywords: newKeywordFinder(), windows: newMemo[[][]int32](keptWindows), regions: newMemo[[]hit](keptRegions)}
	for _, r := range file.Rules {
		use, tied := pathRules[r.ID]
		if r.Regex == "" || r.SkipReport || r.Path != "" && !(tied && use) {
			continue
		}
		out := &rule{id: r.ID, description: r.Description, pattern: spoken(r.Regex), group: r.SecretGroup, entropy: r.Entropy}
		for _, k := range r.Keywords {
			out.keywords = append(out.keywords, set.keywords.add(k))
		}
		for _, k := range alsoNeeded[r.ID] {
			out.needs = append(out.needs, set.keywords.add(k))
		}
		var lists []allowSource
		for _, a := range r.Allowlists {
			lists = append(lists, allowSource{a.Condition, a.RegexTarget, a.Commits, a.Paths, a.Regexes, a.StopWords})
		}
		out.compile = sync.OnceValues(func() (*compiled, error) { return compileRule(out, lists) })
		set.rules = append(set.rules, out)
	}
	if len(set.rules) == 0 {
		return nil, fmt.Errorf("reading the rules of the gitleaks library: it has none")
	}
	var global []allowSource
	//lint:ignore SA1019 the rules file still has its exceptions there; a test notices when it has them elsewhere.
	if a := file.AllowList; a != nil {
		global = append(global, allowSource{a.Condition, a.RegexTarget, a.Commits, nil, a.Regexes, a.StopWords})
	}
	set.allow = sync.OnceValues(func() ([]*config.Allowlist, error) { return buildAllow("all rules", global) })
	return set, nil
}

// What follows a secret in source code, and in a sentence or in Markdown as well.
const (
	endOfCode   = `(?:[\x60'"\s;]|\\[nr]|$)`
	endOfSpeech = `(?:[\x60'"\s;.,:!?)\]}>*<|]|\\[nr]|$)`
)

// spoken is a pattern of the library that finds its secret in a sentence, too: "the key is sk-….", "(ghp_…)", "**…**".
// Only those that know a secret by its first letters are widened: others would take parts of names for secrets.
func spoken(pattern string) string {
	if head, ok := strings.CutSuffix(pattern, endOfCode); ok && strings.HasPrefix(strings.TrimPrefix(head, "(?i)"), `\b(`) {
		return head + endOfSpeech
	}
	return pattern
}

func compileRule(r *rule, lists []allowSource) (*compiled, error) {
	tree, err := syntax.Parse(r.pattern, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", r.id, err)
	}
	re, err := regexp.Compile(r.pattern)
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", r.id, err)
	}
	allow, err := buildAllow(r.id, lists)
	if err != nil {
		return nil, err
	}
	return &compiled{re: re, scope: scopeOf(r.id, r.pattern, tree), allow: allow}, nil
}

// allowSource is a list of exceptions as the rules file has it.
type allowSource struct {
	condition, target                  string
	commits, paths, regexes, stopWords []string
}

// buildAllow makes the library's exceptions without its Validate, which builds a search tree of all stop words:
// 10 MB and 7 ms for the 1,400 of generic-api-key, to look at the handful of candidates that come so far.
func buildAllow(id string, lists []allowSource) ([]*config.Allowlist, error) {
	var out []*config.Allowlist
	for _, l := range lists {
		// Exceptions by commit or path: a memory has neither.
		and := strings.EqualFold(l.condition, "and") || l.condition == "&&"
		if and && len(l.commits)+len(l.paths) > 0 || len(l.regexes)+len(l.stopWords) == 0 {
			continue
		}
		a := &config.Allowlist{RegexTarget: l.target}
		if and {
			a.MatchCondition = config.AllowlistMatchAnd
		}
		if len(l.regexes) > 0 {
			// One expression, as the library makes it: in the rules file a (?i) holds for the alternatives behind it.
			re, err := regexp.Compile("(?:" + strings.Join(l.regexes, "|") + ")")
			if err != nil {
				return nil, fmt.Errorf("exceptions of %s: %w", id, err)
			}
			a.Regexes = []*regexp.Regexp{re}
		}
		for _, w := range l.stopWords {
			a.StopWords = append(a.StopWords, strings.ToLower(w))
		}
		out = append(out, a)
	}
	return out, nil
}

// candidate is a match on its way to become a hit.
type candidate struct {
	secret, match, line string
	at                  span // the match within line
}

// allowed reports whether an exception of the library says that the candidate is no secret.
func allowed(lists []*config.Allowlist, c candidate) bool {
	for _, a := range lists {
		var expr bool
		switch a.RegexTarget {
		case "match":
			expr = a.RegexAllowed(c.match)
		case "line":
			// In gitleaks the expression may be anywhere on the line. Here it must touch the match: otherwise
			// appending an innocent phrase to the line would let any secret through.
			for _, re := range a.Regexes {
				for _, m := range re.FindAllStringIndex(c.line, -1) {
					expr = expr || c.at.overlaps(span{m[0], m[1]})
				}
			}
		default:
			expr = a.RegexAllowed(c.secret)
		}
		stop, _ := a.ContainsStopWord(c.secret)
		if a.MatchCondition == config.AllowlistMatchAnd {
			if (expr || len(a.Regexes) == 0) && (stop || len(a.StopWords) == 0) {
				return true
			}
		} else if expr || stop {
			return true
		}
	}
	return false
}

// entropy is the Shannon entropy of s in bits per byte, as the rules mean it: random text has much, words have little.
func entropy(s string) float64 {
	counts := make(map[rune]int)
	for _, r := range s {
		counts[r]++
	}
	var bits float64
	for _, n := range counts {
		p := float64(n) / float64(len(s))
		bits -= p * math.Log2(p)
	}
	return bits
}
