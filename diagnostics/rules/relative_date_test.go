package rules_test

import (
	"context"
	"testing"

	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

// TestAbsoluteDates writes every date in full, counted from Wednesday, 2026-11-25.
func TestAbsoluteDates(t *testing.T) {
	for _, tt := range []struct{ before, after string }{
		{"We moved it yesterday.", "We moved it on 2026-11-24."},
		{"Yesterday we moved the database. Today's build is red.", "2026-11-24 we moved the database. 2026-11-25's build is red."},
		{"- decided last week, due by next Monday", "- decided in the week of 2026-11-16, due by 2026-11-30"},
		{"the deadline is tomorrow morning", "the deadline is the morning of 2026-11-26"},
		{"Last month we had 3 outages; this year is better", "2026-10 we had 3 outages; 2026 is better"},
		{"two weeks ago, 10 days ago and a year ago", "the week of 2026-11-09, 2026-11-15 and 2025"},
		{"Deployed two weeks ago; the API changed 3 months ago.", "Deployed in the week of 2026-11-09; the API changed in 2026-08."},
		{"We meet in three days, and will release in two weeks", "We meet on 2026-11-28, and will release in the week of 2026-12-07"},
		{"**the day before yesterday** and the day after tomorrow", "**2026-11-23** and 2026-11-27"},
		{"last night, this morning, tonight, this afternoon", "the night of 2026-11-24, the morning of 2026-11-25, the night of 2026-11-25, the afternoon of 2026-11-25"},
		{"It broke last night and again this morning", "It broke on the night of 2026-11-24 and again on the morning of 2026-11-25"},
		{"\"this Friday\" and last\n  Sunday", "\"this Friday\" and 2026-11-22"},
		{"As of today, the limit is 5.", "As of 2026-11-25, the limit is 5."},
		{"Fixed today, see the log.", "Fixed on 2026-11-25, see the log."},
		{"The report for this week and for next month", "The report for the week of 2026-11-23 and for 2026-12"},
		{"last week's review, last year's numbers, tomorrow's plan", "the week of 2026-11-16's review, 2025's numbers, 2026-11-26's plan"},
		{"What happens this week?", "What happens in the week of 2026-11-23?"},
		{"LAST WEEK, TODAY", "The week of 2026-11-16, 2026-11-25"},
		{"Goals Last Week", "Goals in the week of 2026-11-16"},
		{"The state as it is today and yesterday evening", "The state as it is 2026-11-25 and the evening of 2026-11-24"},
		{"until next year", "until 2027"},
		{"The release is in 3 days.", "The release is on 2026-11-28."},
		{"back in two weeks' time", "back in the week of 2026-12-07"},
		{"We will know in a month", "We will know in 2026-12"},
		{"in 5 minutes, in 3 months it will expire", "in 5 minutes, in 3 months it will expire"},
		{"Runs in 2 days on average", "Runs in 2 days on average"},
		{"We built it in two weeks, and once in a year it fails.", "We built it in two weeks, and once in a year it fails."},
		{"The importer needs to run in 3 days", "The importer needs to run in 3 days"},
		{"10 days ago", "2026-11-15"},
		{"Started (yesterday) and ended [today]", "Started (2026-11-24) and ended [2026-11-25]"},
		{"yesterday/today", "yesterday/today"},
		{"He said \"yesterday\".", "He said \"yesterday\"."}, // a word that is spoken of
		{"Fetch last night's dump. Yesterday's build fixed it; we found today's cause.", "Fetch last night's dump. 2026-11-24's build fixed it; we found 2026-11-25's cause."},
		{"「今日特价」是频道名，“昨日”说“昨天宕机了”", "「今日特价」是频道名，“昨日”说“2026-11-24宕机了”"},
		{"今日订单数、昨日活跃用户数；今日部署，昨日上线了", "今日订单数、昨日活跃用户数；2026-11-25部署，2026-11-24上线了"},
		{"筛选项「今天」和“上周”，昨天改名", "筛选项「今天」和“上周”，2026-11-24改名"},
		{"The report shows yesterday by default", "The report shows yesterday by default"},
		{"USA Today", "USA Today"},
		{"Tuesday next week, and next week Friday; by Monday next week", "2026-12-01, and 2026-12-04; by 2026-11-30"},
		{"- [ ] tomorrow: call", "- [ ] 2026-11-26: call"},
		{"one week ago today", "2026-11-18"},
		{"a day ago, one month ago, 12 months ago", "2026-11-24, 2026-10, 2025-11"},
		{"this time next week", "this time in the week of 2026-11-30"},
		{"in the last week", "in the last week"},
		{"over the last month we", "over the last month we"},
		{"next week Tuesday", "2026-12-01"},
		{"last few weeks", "last few weeks"},
		{"this day", "this day"},
		{"early next week, later today, late last year", "early in the week of 2026-11-30, later on 2026-11-25, late in 2025"},
		{"今天部署了，昨天失败，明天再试，前天和后天休息，大前天没有。", "2026-11-25部署了，2026-11-24失败，2026-11-26再试，2026-11-23和2026-11-27休息，2026-11-22没有。"},
		{"上周决定，下周五截止，本周一开会，这个星期很忙", "2026-11-16 那一周决定，2026-12-04截止，2026-11-23开会，2026-11-23 那一周很忙"},
		{"上个月三次故障，去年五次，今年没有，下个月上线", "2026-10三次故障，2025 年五次，2026 年没有，2026-12上线"},
		{"三天前、2 周前、两个月前、10天前", "2026-11-22、2026-11-09 那一周、2026-09、2026-11-15"},
		{"今晚发布，明早检查，昨晚回滚", "2026-11-25 晚上发布，2026-11-26 早上检查，2026-11-24 晚上回滚"},
		{"v2今天ok", "v2 2026-11-25 ok"},
		{"下周三之前完成，上星期天开始", "2026-12-02之前完成，2026-11-22开始"},
		{"昨日の会議、今日", "2026-11-24の会議、2026-11-25"},
		{"明年，前年", "2027 年，2024 年"},
	} {
		if got := absolute(t, tt.before); got != tt.after {
			t.Errorf("%s\n got %s\nwant %s", tt.before, got, tt.after)
		}
	}
}

func absolute(t *testing.T, body string) string {
	t.Helper()
	const front = "---\nname: a\ndescription: d\ntype: user\n---\n"
	c := diagtest.Parse(t, []byte("mtime: a.md 2026-11-25\n-- MEMORY.md --\n- [a](a.md)\n-- a.md --\n"+front+body+"\n"))
	e := c.Engine(rules.All(), fixes.All())
	done, err := e.FixAll(context.Background(), c.Snapshot(t, e, c.Files), diagnostics.FixOptions{Unsafe: true, Rules: []string{"relative-date"}})
	if err != nil {
		t.Fatal(err)
	}
	after, err := done.Change.Apply(c.Texts())
	if err != nil {
		t.Fatal(err)
	}
	return after["a.md"][len(front) : len(after["a.md"])-1]
}
