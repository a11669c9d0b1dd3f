package settings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStores(t *testing.T) {
	for _, tt := range []struct {
		name, config string
		want         map[string]string
		errs         []string
	}{
		{"none", "stores: {}\n", nil, nil},
		{"some", "stores:\n  handbook: ~/work/handbook\n  other: \"/srv/a b\"\n", map[string]string{"handbook": "~/work/handbook", "other": "/srv/a b"}, nil},
		{"of Windows", "stores: {a: 'C:\\team', b: '~\\x'}\n", map[string]string{"a": `C:\team`, "b": `~\x`}, nil},
		{"relative", "stores: {a: handbook, b: /x}\n", map[string]string{"b": "/x"}, []string{"f:1: stores.a:", "not absolute"}},
		{"up", "stores: {a: ../x}\n", nil, []string{"stores.a", "not absolute"}},
		{"network", "stores: {a: '\\\\server\\share', b: //server/x}\n", nil, []string{"network path"}},
		{"name", "stores: {A: /x, 'a/b': /y, '': /z, '..': /w}\n", nil, []string{"stores.A", "stores.a/b", "small letters"}},
		{"empty", "stores: {a: }\n", nil, []string{"stores.a: is empty"}},
		{"twice", "stores:\n  a: /x\n  a: /y\n", map[string]string{"a": "/x"}, nil},
		{"control", "stores: {a: \"/x\\n/y\"}\n", nil, []string{"control character"}},
		{"list", "stores: [/x]\n", nil, []string{"stores: is \"[/x]\", not names with folders"}},
		{"text", "stores: /x\n", nil, []string{"not names with folders"}},
		{"nested", "stores: {a: {b: /x}}\n", nil, []string{"stores.a: is a mapping"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Default()
			errs := c.parse("f", []byte(tt.config))
			if d := cmp.Diff(tt.want, c.Stores); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			var all []string
			for _, err := range errs {
				all = append(all, err.Error())
			}
			told := strings.Join(all, "\n")
			if (len(errs) > 0) != (len(tt.errs) > 0) && tt.name != "twice" {
				t.Errorf("errors: %s", told)
			}
			for _, want := range tt.errs {
				if !strings.Contains(told, want) {
					t.Errorf("%q is not told: %s", want, told)
				}
			}
		})
	}
	var b strings.Builder
	b.WriteString("stores:\n")
	for i := range MaxStores + 1 {
		fmt.Fprintf(&b, "  s%d: /x%d\n", i, i)
	}
	c := Default()
	if errs := c.parse("f", []byte(b.String())); len(errs) != 1 || !strings.Contains(errs[0].Error(), "21 folders") || len(c.Stores) != 0 {
		t.Errorf("too many: %v", errs)
	}
}

func TestStoresComeFromTheFileAlone(t *testing.T) {
	s := newScene(t, map[string]string{"MEM_STORES": "{a: /x}"}, files{})
	c, err := LoadConfig(s.env)
	if err != nil || len(c.Stores) != 0 {
		t.Errorf("%v, %v", c.Stores, err)
	}
}
