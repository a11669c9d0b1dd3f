package cli

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/memory"
	"mem/internal/term"
)

// schedule is a timer that somebody sets up for dreams.
type schedule struct {
	program string
	args    []string
	dir     string
	name    string
	hour    int
	minute  int
}

func (a *app) dreamScheduleCommand() *cobra.Command {
	var systemd, launchd, cron, schtasks bool
	var at string
	c := &cobra.Command{
		Use:   "schedule",
		Short: "Print a timer that dreams every night: for systemd, launchd, cron or the Task Scheduler",
		Long: "schedule prints what lets this system run `mem-mcp dream --scheduled` for this memory every night, and where to put it. It\n" +
			"changes nothing. A run by the clock asks all gates; in daily-log mode it distils the logs, which a turn's end never does.",
		Args: term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			n := 0
			for _, f := range []bool{systemd, launchd, cron, schtasks} {
				if f {
					n++
				}
			}
			switch {
			case n > 1:
				return term.Usage("--systemd, --launchd, --cron and --schtasks exclude each other")
			case n == 0:
				systemd, launchd, schtasks = runtime.GOOS == "linux", runtime.GOOS == "darwin", runtime.GOOS == "windows"
			}
			s := schedule{}
			if _, err := fmt.Sscanf(at, "%d:%d", &s.hour, &s.minute); err != nil || s.hour < 0 || s.hour > 23 || s.minute < 0 || s.minute > 59 || len(at) > 5 {
				return term.Usage("--at is a time of the day, such as 03:30")
			}
			return a.withMemory(func(m *memory.Memory) error {
				var err error
				if s.program, err = ownPath(); err != nil {
					return err
				}
				s.dir, s.name = m.Location.Project.Dir, "mem-dream-"+m.Location.Project.Slug()
				s.args = []string{"dream", "--scheduled", "--project", s.dir}
				if a.memoryDir != "" {
					s.args = append(s.args, "--memory-dir", m.Location.Directory)
				}
				if store := m.StoreName(); store != memory.StoreAuto && store != "" {
					s.args = append(s.args, "--store", store)
				}
				text := s.cron()
				switch {
				case systemd:
					text = s.systemd()
				case launchd:
					text = s.launchd()
				case schtasks:
					text = s.schtasks()
				}
				return a.show(map[string]any{"text": text, "program": s.program, "args": s.args}, func() { a.Printf("%s", text) })
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&systemd, "systemd", false, "a systemd user timer (default on Linux)")
	f.BoolVar(&launchd, "launchd", false, "a launchd agent (default on macOS)")
	f.BoolVar(&cron, "cron", false, "a line for crontab (default elsewhere)")
	f.BoolVar(&schtasks, "schtasks", false, "a command for the Task Scheduler (default on Windows)")
	f.StringVar(&at, "at", "03:30", "when, in local time")
	return c
}

// unitWord quotes a word for the command line of a systemd unit: a percent sign begins a
// specifier there, a dollar sign a variable.
func unitWord(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(s)
	return `"` + s + `"`
}

func (s schedule) systemd() string {
	words := []string{unitWord(s.program)}
	for _, w := range s.args {
		words = append(words, unitWord(w))
	}
	return fmt.Sprintf(`# ~/.config/systemd/user/%[1]s.service
[Unit]
Description=Consolidate the memory of %[2]s

[Service]
Type=oneshot
ExecStart=%[3]s
TimeoutStartSec=35min

# ~/.config/systemd/user/%[1]s.timer
[Unit]
Description=Consolidate the memory of %[2]s every night

[Timer]
OnCalendar=*-*-* %02[4]d:%02[5]d:00
Persistent=true
RandomizedDelaySec=10min

[Install]
WantedBy=timers.target

# then: systemctl --user daemon-reload && systemctl --user enable --now %[1]s.timer
`, s.name, strings.NewReplacer("%", "%%", "\n", " ").Replace(s.dir), strings.Join(words, " "), s.hour, s.minute)
}

var xmlEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func (s schedule) launchd() string {
	var args strings.Builder
	for _, w := range append([]string{s.program}, s.args...) {
		fmt.Fprintf(&args, "\t\t<string>%s</string>\n", xmlEscape.Replace(w))
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!-- Store this in ~/Library/LaunchAgents, named as its label with .plist behind it; then: launchctl load FILE -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%[1]s</string>
	<key>ProgramArguments</key>
	<array>
%[2]s	</array>
	<key>StartCalendarInterval</key>
	<dict>
		<key>Hour</key>
		<integer>%[3]d</integer>
		<key>Minute</key>
		<integer>%[4]d</integer>
	</dict>
</dict>
</plist>
`, s.name, args.String(), s.hour, s.minute)
}

// shellWord quotes a word for a shell; in crontab a percent sign ends the command.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (s schedule) cron() string {
	words := []string{shellWord(s.program)}
	for _, w := range s.args {
		words = append(words, shellWord(w))
	}
	return fmt.Sprintf("# crontab -e\n%d %d * * * %s\n", s.minute, s.hour, strings.ReplaceAll(strings.Join(words, " "), "%", `\%`))
}

// windowsWord quotes a word as Windows programs take their command line apart.
func windowsWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\"") {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for _, r := range s {
		switch r {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1)) // and as many again below
		}
		if r != '\\' {
			b.WriteString(strings.Repeat(`\`, slashes))
			slashes = 0
			b.WriteRune(r)
		}
	}
	b.WriteString(strings.Repeat(`\`, 2*slashes) + `"`)
	return b.String()
}

func (s schedule) schtasks() string {
	words := []string{windowsWord(s.program)}
	for _, w := range s.args {
		words = append(words, windowsWord(w))
	}
	return fmt.Sprintf("schtasks /Create /SC DAILY /ST %02d:%02d /TN %s /TR %s\n", s.hour, s.minute, windowsWord(s.name), windowsWord(strings.Join(words, " ")))
}
