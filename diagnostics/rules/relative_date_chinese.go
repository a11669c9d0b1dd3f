package rules

import (
	"strings"
	"time"
	"unicode/utf8"

	"mem/core/text"
)

// chineseStarts are the characters that a phrase begins with, or in 前 one that is
// read backwards ("三天前").
var chineseStarts = []string{"今", "昨", "明", "前", "后", "後", "大", "上", "下", "本", "这", "這", "去"}

// chineseWords are phrases that are whole, the longest of those with one beginning
// first.
var chineseWords = []struct {
	word string
	unit unit
	n    int
	part string
}{
	{"大前天", day, -3, ""}, {"大后天", day, 3, ""}, {"大後天", day, 3, ""},
	{"今天", day, 0, ""}, {"今日", day, 0, ""}, {"今晚", day, 0, "晚上"}, {"今早", day, 0, "早上"}, {"今晨", day, 0, "凌晨"}, {"今年", year, 0, ""},
	{"昨天", day, -1, ""}, {"昨日", day, -1, ""}, {"昨晚", day, -1, "晚上"}, {"昨夜", day, -1, "夜里"},
	{"明天", day, 1, ""}, {"明日", day, 1, ""}, {"明晚", day, 1, "晚上"}, {"明早", day, 1, "早上"}, {"明年", year, 1, ""},
	{"前天", day, -2, ""}, {"前年", year, -2, ""}, {"后天", day, 2, ""}, {"後天", day, 2, ""},
	{"去年", year, -1, ""},
	{"上个月", month, -1, ""}, {"上個月", month, -1, ""}, {"上月", month, -1, ""},
	{"下个月", month, 1, ""}, {"下個月", month, 1, ""}, {"下月", month, 1, ""},
	{"这个月", month, 0, ""}, {"這個月", month, 0, ""}, {"本月", month, 0, ""},
}

// chineseWeeks are the ways to say week, and chineseDays the days behind it.
var (
	chineseWeeks = []string{"周", "週", "星期", "礼拜", "禮拜", "个星期", "個星期", "个礼拜", "個禮拜"}
	chineseDays  = map[string]time.Weekday{"一": time.Monday, "二": time.Tuesday, "三": time.Wednesday, "四": time.Thursday, "五": time.Friday,
		"六": time.Saturday, "日": time.Sunday, "天": time.Sunday}
	chineseUnits = []struct {
		word string
		unit unit
	}{{"个星期", week}, {"個星期", week}, {"个礼拜", week}, {"星期", week}, {"礼拜", week}, {"周", week}, {"週", week}, {"个月", month}, {"個月", month}, {"天", day}, {"年", year}}
	chineseNumbers = map[string]int{"一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
)

// notBeforeChinese are characters that make another word with 上 or 下 (晚上, 以上,
// 马上, 线上 …) or with the rest (聪明, 说明, 发明, 过去, 失去).
const notBeforeChinese = "晚早以马馬网網线線路如加向之身手桌床海天地往脚腳聪聰说說发發证證声聲表透文过過失除进進出"

// notBehindChinese make another word with what stands before them: 上周期, 下周边,
// 上月球, 今日头条, 明天系.
var notBehindChinese = []string{"期", "边", "邊", "转", "轉", "围", "圍", "长", "球", "头条", "頭條", "系"}

// chineseAt gives the phrase that begins, or ends with 前, at i.
func chineseAt(src string, i int) (dated, bool) {
	if i+3 > len(src) {
		return dated{}, false
	}
	d := dated{span: text.Span{Start: i}, chinese: true}
	first := src[i : i+3]
	switch first {
	case "今", "昨", "明", "前", "后", "後", "大", "上", "下", "本", "这", "這", "去":
	default:
		return dated{}, false
	}
	if first == "前" && d.chineseAgo(src, i) {
		return d, true
	}
	for _, w := range chineseWords {
		if strings.HasPrefix(src[i:], w.word) {
			d.unit, d.n, d.part, d.span.End = w.unit, w.n, w.part, i+len(w.word)
			return d, d.chineseApart(src)
		}
	}
	switch first {
	case "上":
		d.n = -1
	case "下":
		d.n = 1
	case "本", "这", "這":
	default:
		return dated{}, false
	}
	return d, d.chineseWeek(src, i+3) && d.chineseApart(src)
}

// chineseWeek reads 周 or 周五 behind 上, 下 or 这.
func (d *dated) chineseWeek(src string, i int) bool {
	for _, w := range chineseWeeks {
		if !strings.HasPrefix(src[i:], w) {
			continue
		}
		d.unit, d.span.End = week, i+len(w)
		if end := d.span.End; end+3 <= len(src) {
			if wd, ok := chineseDays[src[end:end+3]]; ok {
				d.onDay, d.weekday, d.span.End = true, wd, end+3
			}
		}
		return true
	}
	return false
}

// chineseAgo reads 三天前 from its 前.
func (d *dated) chineseAgo(src string, i int) bool {
	before := src[:i]
	for _, u := range chineseUnits {
		rest, ok := strings.CutSuffix(before, u.word)
		if !ok {
			continue
		}
		rest = strings.TrimRight(rest, " ")
		n, start := chineseNumber(rest)
		prev, _ := utf8.DecodeLastRuneInString(rest[:start])
		// 两三天前, 十几天前, 至少三天前 and 2020年前 name no day.
		if n == 0 || n > 99 || strings.ContainsRune("一二两兩三四五六七八九十几幾数數第每少提约約近过過月-~.,", prev) {
			return false
		}
		d.unit, d.n, d.span = u.unit, -n, text.Span{Start: start, End: i + 3}
		return true
	}
	return false
}

// chineseNumber gives the number that s ends with, 0 where it ends with none, and
// where that starts.
func chineseNumber(s string) (n, start int) {
	start = len(s)
	for start > 0 && start > len(s)-4 && '0' <= s[start-1] && s[start-1] <= '9' {
		start--
	}
	if start < len(s) {
		return parse(s[start:]), start
	}
	if start < 3 {
		return 0, start
	}
	return chineseNumbers[s[start-3:]], start - 3
}

// chineseApart reports whether the characters around a phrase make no other word.
func (d *dated) chineseApart(src string) bool {
	prev, _ := utf8.DecodeLastRuneInString(src[:d.span.Start])
	if strings.ContainsRune(notBeforeChinese, prev) || d.span.Start > 0 && strings.IndexByte("/_-[{", src[d.span.Start-1]) >= 0 {
		return false
	}
	rest := src[d.span.End:]
	for _, s := range notBehindChinese {
		if strings.HasPrefix(rest, s) && !d.onDay {
			return false
		}
	}
	return !strings.HasPrefix(rest, ".md") && !d.chineseName(src)
}

// nameRunes is how long the name of something is that begins with a day, in
// characters behind that.
const nameRunes = 6

// chineseName reports whether a phrase begins the name of something: 「今日特价」 between
// quotation marks, or a figure such as 今日订单数, which moves along with its reader.
func (d *dated) chineseName(src string) bool {
	before := src[:d.span.Start]
	opened := strings.HasSuffix(before, "「") || strings.HasSuffix(before, "『") || strings.HasSuffix(before, "“")
	figure := strings.HasSuffix(src[:d.span.End], "日") && !d.onDay
	if !opened && !figure {
		return false
	}
	for i, r := range []rune(src[d.span.End:min(len(src), d.span.End+nameRunes*utf8.UTFMax)]) {
		switch {
		case i > nameRunes || strings.ContainsRune("了会會要将將已在，。；：、！？,.\n ", r):
			return false
		case strings.ContainsRune("」』”", r):
			return opened
		case figure && i > 0 && strings.ContainsRune("数數量额額率价價", r):
			return true
		}
	}
	return false
}
