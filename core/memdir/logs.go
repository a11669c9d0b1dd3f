package memdir

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"mem/core/memfile"
	"mem/core/text"
)

// DailyLog is one daily log.
type DailyLog struct {
	Date    string // YYYY-MM-DD
	Path    string // logs/YYYY/MM/YYYY-MM-DD.md
	Size    int64
	ModTime time.Time
}

// LogPath gives the path of the daily log of a day, in the time's own location.
func LogPath(day time.Time) string {
	return path.Join(LogsDir, day.Format("2006"), day.Format("01"), day.Format("2006-01-02")+".md")
}

// logDate gives the day of a daily log's path.
func logDate(p string) (date string, ok bool) {
	date = Stem(p)
	day, err := time.Parse("2006-01-02", date)
	if err != nil || LogPath(day) != p {
		return "", false
	}
	return date, true
}

// readLogs lists the daily logs; other files below logs/ are left alone.
func (v *View) readLogs() {
	years, err := fs.ReadDir(v.src, LogsDir)
	if err != nil {
		v.problem(LogsDir, "cannot be read: %v. Check its permissions.", err)
		return
	}
	for _, y := range years {
		if !y.IsDir() || len(y.Name()) != 4 {
			continue
		}
		months, err := fs.ReadDir(v.src, path.Join(LogsDir, y.Name()))
		if err != nil {
			v.problem(path.Join(LogsDir, y.Name()), "cannot be read: %v. Check its permissions.", err)
			continue
		}
		for _, m := range months {
			if m.IsDir() && len(m.Name()) == 2 {
				v.readMonth(path.Join(LogsDir, y.Name(), m.Name()))
			}
		}
	}
}

func (v *View) readMonth(dir string) {
	days, err := fs.ReadDir(v.src, dir)
	if err != nil {
		v.problem(dir, "cannot be read: %v. Check its permissions.", err)
		return
	}
	for _, d := range days {
		p := path.Join(dir, d.Name())
		date, ok := logDate(p)
		if !ok || !d.Type().IsRegular() {
			continue
		}
		if info, err := d.Info(); err == nil {
			v.Logs = append(v.Logs, DailyLog{Date: date, Path: p, Size: info.Size(), ModTime: info.ModTime()})
		}
	}
}

// entryHeading matches a line that would pass for the heading of another entry.
var entryHeading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^## \d\d:\d\d:\d\d `) })

// LogEntry gives the text that a daily log gets for one memory or note. A log
// entry is a heading with the local time, and what was written below it.
func LogEntry(at time.Time, n LogNote) string {
	var b strings.Builder
	title := memfile.OneLine(n.Name)
	if title == "" {
		title = "note"
	}
	fmt.Fprintf(&b, "## %s %s\n\n", at.Format("15:04:05"), title)
	if n.Type != "" {
		fmt.Fprintf(&b, "- type: %s\n", memfile.OneLine(n.Type))
	}
	if n.Description != "" {
		fmt.Fprintf(&b, "- description: %s\n", memfile.OneLine(n.Description))
	}
	if n.Origin != "" {
		fmt.Fprintf(&b, "- originSessionId: %s\n", memfile.OneLine(n.Origin))
	}
	if body := strings.Trim(text.WithEOL(n.Body, "\n"), "\r\n"); body != "" {
		if n.Type != "" || n.Description != "" || n.Origin != "" {
			b.WriteString("\n")
		}
		b.WriteString(entryHeading().ReplaceAllString(body, `\$0`) + "\n")
	}
	b.WriteString("\n")
	return b.String()
}

// LogNote is what goes into a daily log.
type LogNote struct {
	Name, Type, Description, Body, Origin string
}

// LogWithdrawal gives the text that takes a log entry back: logs only grow, so
// the entry stays and readers are told not to use it.
func LogWithdrawal(at, logged time.Time, title string) string {
	return fmt.Sprintf("## %s withdrawn\n\nThe entry of %s (%s) was taken back; do not use it.\n\n",
		at.Format("15:04:05"), logged.In(at.Location()).Format("15:04:05"), memfile.OneLine(title))
}
