package recall_test

import (
	"strings"
	"testing"

	"mem/core/recall"
)

// relevanceTopics are memories as agents write them: path | name | description
// | body.
const relevanceTopics = `
deploy_friday.md | No deploys on Friday | Releases wait until Monday unless the incident channel approves | The on-call person asked for this after two weekend outages. Run make ship only Monday to Thursday. A hotfix needs a second approver.
rollback_steps.md | How to roll back | Steps to return production to the release before | Run shipctl revert with the previous tag, watch the error rate for ten minutes, then announce it. Database changes are not reverted by this.
db_migrations.md | Database migrations are additive | Never drop a column in the release that stops using it | Two releases: first stop reading, then drop. Long locks on orders took the shop down once; use CREATE INDEX CONCURRENTLY.
test_flaky_clock.md | Flaky tests come from the wall clock | Inject a clock instead of calling time.Now | TestSessionExpiry failed at midnight UTC. Use the FakeClock in internal/clocktest. Do not add sleeps or retries.
test_database.md | Integration tests use a real Postgres | Mocked storage hid a broken constraint | The user prefers testcontainers over mocks for anything that touches SQL. Set TEST_DSN to reuse a running one.
user_role.md | User is a data engineer | Writes Python daily and is new to Go | Explain goroutines and channels by comparison to asyncio. Skip explanations of SQL.
user_style.md | Short answers preferred | The user wants terse replies without summaries | No recap of the diff at the end, no emoji. Code first, reasons after.
commit_style.md | Commit messages | Imperative subject under 60 characters, body says why | Reference the ticket as PAY-123 in the last line. Never mention the assistant.
parse_url.md | parseURL drops the fragment | Known quirk kept for old clients | parseURL in net/link/parse.go strips everything behind the hash. Callers that need it use SplitFragment.
http_server2.md | HTTPServer2 replaces HTTPServer | Old listener only remains for the admin port | HTTPServer2 reads limits from server_limits.yaml. max_body_bytes defaults to 4 MiB.
mcp_version.md | mcp-go pinned to v1.2.1 | Later releases break the stdio transport | 1.3.0 loses the last reply at end of input. Revisit when issue 412 closes.
go_toolchain.md | Go toolchain 1.26 | CI and laptops use the same toolchain line | GOTOOLCHAIN=local in CI. The range-over-func loops need at least 1.23.
cert_renewal.md | Certificate renewal is manual for the partner gateway | The partner pins our leaf, so automatic renewal is off | Renew in the first week of March, send the fingerprint to their security mailbox, wait for confirmation.
secrets_vault.md | Where credentials live | Vault path kv/payments, never in the repository | Rotate the Stripe key every quarter. Local runs read .env.local which is ignored by git.
oncall_dashboard.md | Dashboard the on-call watches | grafana.example/d/api-latency shows request latency | Check it before and after editing request handling code. The alert fires above 400 ms at p99.
bug_tracker.md | Pipeline bugs are tracked in Linear | Project INGEST holds ingestion bugs | Ask there before opening an issue on GitHub. Priority labels are P0 to P3.
cache_invalidation.md | Cache invalidation on price change | Prices are cached for an hour in Redis | Publish price.changed to evict. Forgetting it showed stale prices during the spring sale.
rate_limit.md | Rate limiting by API key | 50 requests a second, burst 100 | Token bucket in gateway/limit.go. Answers 429 with Retry-After. The mobile app retries with jitter.
memory_leak.md | Worker leaked goroutines | Unclosed response bodies in the webhook sender | pprof showed 80,000 goroutines blocked in readLoop. Always drain and close. Fixed in release 41.
frontend_framework.md | Frontend is Svelte | The team decided against React in January | Components live in web/src/lib. State goes into stores, not context. Use pnpm, not npm.
css_rules.md | Styling rules | Utility classes only, no styled components | Spacing follows a scale of four pixels. Dark theme colours come from tokens.css.
legal_export.md | Data export for privacy requests | GDPR exports have to be ready in 30 days | The job exporter/subject.py collects rows by customer id. Legal reviews the archive before it is sent.
auth_rewrite.md | Auth middleware rewrite | Driven by compliance about session token storage | Legal flagged how tokens were stored. Scope decisions favour compliance over ergonomics. Deadline is the audit in June.
merge_freeze.md | Merge freeze before the mobile release | Nothing lands on main after Thursday noon in release weeks | The mobile team cuts its branch then. Exceptions go through the release captain.
monorepo_layout.md | Repository layout | services, libs and tools at the top level | Each service owns its go.mod. Shared protobuf files live in libs/proto. Generated code is committed.
logging_format.md | Structured logging | JSON lines with request_id and tenant | slog with the handler from libs/obs. Never log payloads: they hold personal data.
queue_retries.md | Queue consumers must be idempotent | Messages arrive more than once | SQS redelivers after 30 seconds. Store the message id in processed_messages before side effects.
timezones.md | Store times in UTC | Convert to the shop's zone only for display | A daylight saving bug doubled the invoices of one night. Reports group by local day.
docker_build.md | Docker images build with bake | docker buildx bake reads docker-bake.hcl | Layers are cached in the registry. On arm laptops set PLATFORM=linux/amd64.
feature_flags.md | Feature flags expire | Every flag has an owner and an end date | flags.yaml is checked nightly. Remove the branch, not only the flag.
spike_search.md | Search experiment | Elasticsearch was too heavy, SQLite full text won | Index of 2 million rows is 900 MB. Ranking uses bm25 with title weighted higher.
payment_retry.md | Payment retries | Charge attempts use an idempotency key | Three attempts at 1, 6 and 24 hours. A declined card is never retried the same day.
release_de.md | Veröffentlichungen auf Deutsch | Die Versionshinweise erscheinen zuerst auf Deutsch | Der Kunde in Zürich liest nur die deutsche Fassung. Übersetzung bis Mittwoch, Prüfung durch das Büro in München.
rechnung_de.md | Rechnungsnummern | Fortlaufend ohne Lücken, Vorgabe der Steuerprüfung | Stornierte Rechnungen behalten ihre Nummer. Änderungen nur mit Gutschrift.
deploiement_fr.md | Déploiement chez le client | Les serveurs du client n'ont pas d'accès à Internet | Livrer une archive signée. La mise à jour se fait le mardi soir avec l'équipe réseau.
facturas_es.md | Facturación electrónica en España | El certificado caduca en noviembre | Enviar los ficheros firmados a la Agencia Tributaria. Pruebas en el entorno de homologación.
deploy_ja.md | 本番環境へのデプロイ手順 | 金曜日の午後は禁止、承認は二名 | デプロイ前にステージング環境で動作確認を行う。失敗したらすぐに切り戻す。
test_ja.md | テスト方針 | データベースはモックにしない | 結合テストは本物のデータベースに接続する。以前モックで障害を見逃した。
deploy_zh.md | 数据库备份 | 每天凌晨三点自动备份到对象存储 | 恢复演练每季度一次。备份保留九十天，密钥由运维组保管。
cache_zh.md | 缓存策略 | 热点数据先写数据库再删缓存 | 不要先删缓存，否则并发读会写回旧数据。过期时间加随机值。
build_ko.md | 빌드 서버 규칙 | 야간 빌드는 새벽 두 시에 시작한다 | 실패하면 담당자에게 알림을 보낸다. 캐시는 일주일마다 지운다.
oncall_ru.md | Дежурство | График дежурств ведёт Марина, смена по понедельникам | При аварии сначала позвонить дежурному, затем писать в канал. Отчёт об инциденте за два дня.
`

// relevanceQueries are what someone would type who half remembers: query | path
// that must be among the first three.
const relevanceQueries = `
can we deploy on friday | deploy_friday.md
weekend outage rule for releasing | deploy_friday.md
revert a bad release | rollback_steps.md
dropping columns safely | db_migrations.md
index locks orders table | db_migrations.md
tests failing at midnight | test_flaky_clock.md
fake clock | test_flaky_clock.md
mocking the database in tests | test_database.md
does the user know go | user_role.md
how long should answers be | user_style.md
ticket reference in commits | commit_style.md
parse_url fragment | parse_url.md
splitfragment | parse_url.md
max body bytes server limit | http_server2.md
httpserver | http_server2.md
mcp-go 1.2.1 | mcp_version.md
which go version 1.26 | go_toolchain.md
renewing certificates for partner | cert_renewal.md
certifcate renewl | cert_renewal.md
stripe api key rotation | secrets_vault.md
latency dashbord | oncall_dashboard.md
stale prices redis | cache_invalidation.md
429 retry after | rate_limit.md
goroutine leaks | memory_leak.md
gorountine leeks webhook | memory_leak.md
react or svelte | frontend_framework.md
gdpr data exports | legal_export.md
why was auth rewritten | auth_rewrite.md
token storage compliance | auth_rewrite.md
merging to main before mobile release | merge_freeze.md
request_id logs | logging_format.md
idempotent message consumers | queue_retries.md
daylight savings invoices | timezones.md
buildx arm laptop | docker_build.md
docker-bake.hcl | docker_build.md
expired feature flag | feature_flags.md
elasticsearch vs sqlite | spike_search.md
retrying declined cards | payment_retry.md
versionshinweise zurich | release_de.md
rechnungsnummer lucken | rechnung_de.md
Steuerprufung | rechnung_de.md
mise a jour client sans internet | deploiement_fr.md
certificado caduca | facturas_es.md
本番 デプロイ | deploy_ja.md
金曜日 | deploy_ja.md
モック | test_ja.md
备份 恢复 | deploy_zh.md
删缓存 | cache_zh.md
야간 빌드 | build_ko.md
알림 | build_ko.md
дежурства график | oncall_ru.md
what happens when a message is delivered twice | queue_retries.md
who approves hotfixes | deploy_friday.md
where are passwords stored | secrets_vault.md
too many requests | rate_limit.md
python developer | user_role.md
container image build | docker_build.md
npm or pnpm | frontend_framework.md
dark mode | css_rules.md
personal data in logs | logging_format.md
customer without internet access | deploiement_fr.md
utc | timezones.md
latency alert threshold | oncall_dashboard.md
double billing at night | timezones.md
release notes language | release_de.md
search ranking | spike_search.md
dont open github issues | bug_tracker.md
testing against a real server | test_database.md
缓存 数据 | cache_zh.md
データベース | test_ja.md
서버 캐시 | build_ko.md
`

// Measured with this table of 71 queries. What changes the tokeniser or the
// ranking has to keep it; a better level is written here. The two that fail
// share no word with their topic, which ranking by words cannot mend.
const (
	relevantInThree = 69
	relevantFirst   = 68
)

func relevanceDocs() []recall.Doc {
	var docs []recall.Doc
	for line := range strings.Lines(strings.TrimSpace(relevanceTopics)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		docs = append(docs, recall.Doc{ID: f[0], Name: f[1], Description: f[2], Body: f[3]})
	}
	return docs
}

func TestRelevance(t *testing.T) {
	idx := recall.Build(relevanceDocs())
	first, three, all := 0, 0, 0
	for line := range strings.Lines(strings.TrimSpace(relevanceQueries)) {
		query, want, _ := strings.Cut(strings.TrimSpace(line), " | ")
		r := idx.Search(query, recall.Options{Limit: 3})
		rank := 0
		for i, h := range r.Hits {
			if h.ID == want {
				rank = i + 1
			}
		}
		all++
		if rank == 1 {
			first++
		}
		if rank > 0 {
			three++
		}
		if rank != 1 {
			t.Logf("%q: %s at %d of [%s], corrections %v, unknown %q", query, want, rank, ids(r), r.Corrections, r.Unknown)
		}
	}
	t.Logf("first %d, in the first three %d of %d", first, three, all)
	if three < relevantInThree || first < relevantFirst {
		t.Errorf("first %d, in the first three %d; measured before: %d and %d", first, three, relevantFirst, relevantInThree)
	}
}
