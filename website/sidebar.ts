// The pages of the site, in reading order. The navigation, llms.txt and the completeness test use this list. Paths are those
// of the repository.
import { existsSync, readdirSync, readFileSync } from 'node:fs'

export interface SidebarPage {
  title: string
  path: string
}

export interface SidebarGroup {
  title: string
  pages: SidebarPage[]
}

const root = new URL('../', import.meta.url)

/** Address of a page on the site, below its base; README.md is the front page. */
export function addressOf({ path }: SidebarPage): string {
  return path === 'README.md'
    ? ''
    : path.replace(/(?:(?<=^|\/)index)?\.md$/, (end) => (end === '.md' ? '.html' : ''))
}

function page(title: string, path: string): SidebarPage {
  return { title, path }
}

/** For people who change unstuck, not for those who use it: on no page of the site, nor found by its search. */
export const repositoryPages: readonly string[] = [
  'ARCHITECTURE.md',
  'CODE_OF_CONDUCT.md',
  'CONTRIBUTING.md',
  'docs/adr/**',
  'docs/how-we-test.md',
  'docs/operations/release.md',
  'docs/performance.md',
  'docs/reliability.md',
  'docs/requirements.md',
]

export function isInRepositoryOnly(path: string): boolean {
  return repositoryPages.some((page) =>
    page.endsWith('**') ? path.startsWith(page.slice(0, -2)) : path === page,
  )
}

function examples(): SidebarPage[] {
  const folders = readdirSync(new URL('examples/', root)).toSorted()
  const paths = ['examples/README.md', ...folders.map((folder) => `examples/${folder}/README.md`)]
  return paths.filter((path) => existsSync(new URL(path, root))).map((path) => page(titleOf(path), path))
}

function titleOf(path: string): string {
  return /^# (.*)$/m.exec(readFileSync(new URL(path, root), 'utf8'))?.[1] ?? path
}

export const sidebar: SidebarGroup[] = [
  {
    title: 'Start',
    pages: [
      page('My job is stuck', 'docs/start/my-job-is-stuck.md'),
      page('unstuck', 'README.md'),
      page('Why unstuck', 'docs/start/why-unstuck.md'),
      page('Quickstart', 'docs/start/quickstart.md'),
      page('A tour of the demo', 'docs/start/demo-tour.md'),
      page('Scan your queue', 'docs/start/scan-your-queue.md'),
      page('Glossary', 'docs/start/glossary.md'),
    ],
  },
  {
    title: 'Concepts',
    pages: [
      page('Job lifecycle', 'docs/concepts/job-lifecycle.md'),
      page('Leases and the database clock', 'docs/concepts/leases.md'),
      page('Fences', 'docs/concepts/fences.md'),
      page('Heartbeats', 'docs/concepts/heartbeats.md'),
      page('Presence', 'docs/concepts/presence.md'),
      page('Reaping', 'docs/concepts/reaping.md'),
      page('Attempts and crashes', 'docs/concepts/attempts-and-crashes.md'),
      page('Backoff', 'docs/concepts/backoff.md'),
      page('Failures', 'docs/concepts/failures.md'),
      page('Breakers, pauses and limits', 'docs/concepts/breaker-and-limits.md'),
      page('Delivery guarantees', 'docs/concepts/delivery-guarantees.md'),
      page('Failure matrix', 'docs/concepts/failure-matrix.md'),
      page('Limits', 'docs/concepts/limits.md'),
    ],
  },
  {
    title: 'Tools',
    pages: [
      page('Rescue calculator', 'docs/tools/rescue-calculator.md'),
      page('Retry schedule', 'docs/tools/retry-schedule.md'),
    ],
  },
  {
    title: 'Guides: your table',
    pages: [
      page('Attach an existing table', 'docs/guides/tables/attach.md'),
      page('Observe, reap, enforce', 'docs/guides/tables/modes.md'),
      page('Nearly a document', 'docs/guides/tables/nearly-a-document.md'),
      page('Scan and doctor', 'docs/guides/tables/scan-and-doctor.md'),
      page('Clip and ASR jobs', 'docs/guides/tables/clip.md'),
      page('Embedding jobs', 'docs/guides/tables/embedding.md'),
      page('Jobs in Neo4j', 'docs/guides/tables/neo4j.md'),
      page('Executor jobs, with SQL alone', 'docs/guides/tables/executor.md'),
      page('A PDF converter with Prisma', 'docs/guides/tables/converter.md'),
      page('Prisma names', 'docs/guides/tables/prisma-names.md'),
      page('pg_cron only', 'docs/guides/tables/pg-cron-only.md'),
      page('Supabase', 'docs/guides/tables/supabase.md'),
    ],
  },
  {
    title: 'Guides: your handlers',
    pages: [
      page('Enqueue and cancel', 'docs/guides/handlers/enqueue-and-cancel.md'),
      page('Typed jobs', 'docs/guides/handlers/typed-jobs.md'),
      page('See failures', 'docs/guides/handlers/see-failures.md'),
      page('Stage leases', 'docs/guides/handlers/stage-leases.md'),
      page('Long and CPU-heavy jobs', 'docs/guides/handlers/long-jobs.md'),
      page('Batches', 'docs/guides/handlers/batches.md'),
      page('Retry, expiry and dedupe', 'docs/guides/handlers/retry-and-time.md'),
      page('Wait for a job', 'docs/guides/handlers/wait-for-a-job.md'),
      page('Enqueue inside your transaction', 'docs/guides/handlers/enqueue-in-your-transaction.md'),
      page('Exactly-once effects', 'docs/guides/handlers/exactly-once-effects.md'),
      page('Call an outside service', 'docs/guides/handlers/outside-services.md'),
      page('Limits per tenant', 'docs/guides/handlers/limits-per-tenant.md'),
      page('Concurrency, groups and order', 'docs/guides/operate/concurrency-and-groups.md'),
      page('Recurring jobs', 'docs/guides/handlers/recurring-jobs.md'),
      page('Use the store directly', 'docs/guides/handlers/use-the-store.md'),
      page('Test your handlers', 'docs/guides/handlers/testing-handlers.md'),
    ],
  },
  {
    title: 'Guides: interfaces',
    pages: [
      page('Next.js and serverless', 'docs/guides/interfaces/nextjs-and-serverless.md'),
      page('NestJS', 'docs/guides/interfaces/nestjs.md'),
      page('HTTP API', 'docs/guides/interfaces/http-api.md'),
      page('The dashboard', 'docs/guides/interfaces/dashboard.md'),
      page('Embed the dashboard', 'docs/guides/interfaces/embed-the-dashboard.md'),
      page('Redaction', 'docs/guides/interfaces/redaction.md'),
      page('Webhooks', 'docs/guides/interfaces/webhooks.md'),
      page('Prometheus and OpenTelemetry', 'docs/guides/interfaces/prometheus-and-opentelemetry.md'),
      page('Pooling and hints', 'docs/guides/interfaces/pooling-and-hints.md'),
      page('Manual retry in your UI', 'docs/guides/interfaces/manual-retry.md'),
      page('Keep pg-boss as the dispatcher', 'docs/guides/interfaces/pg-boss.md'),
    ],
  },
  { title: 'Examples', pages: examples() },
  {
    title: 'Operations',
    pages: [
      page('Install, upgrade, uninstall', 'docs/operations/install-and-upgrade.md'),
      page('Configuration', 'docs/guides/operate/configuration.md'),
      page('Deploy', 'docs/guides/operate/deploy.md'),
      page('Database roles and limits', 'docs/guides/operate/database-roles.md'),
      page('Sizing and PostgreSQL tuning', 'docs/operations/sizing-and-tuning.md'),
      page('Production checklist', 'docs/operations/production-checklist.md'),
      page('Drill', 'docs/guides/operate/drill.md'),
      page('Growth', 'docs/guides/operate/growth.md'),
      page('More than one server', 'docs/guides/operate/scale-out.md'),
      page('Citus', 'docs/guides/operate/citus.md'),
      page('Dead letters', 'docs/guides/operate/dead-letters.md'),
      page('Rescue SLO', 'docs/operations/slo.md'),
      page('Alerts', 'docs/operations/alerts.md'),
      page('UnstuckStuckOver2xTTL', 'docs/operations/stuck-over-2x-ttl.md'),
      page('UnstuckNoReaper', 'docs/operations/no-reaper.md'),
      page('UnstuckRescueSlow', 'docs/operations/rescue-slow.md'),
      page('UnstuckBreakerOpenLong', 'docs/operations/breaker-open-long.md'),
      page('UnstuckOldestWaiting', 'docs/operations/oldest-waiting.md'),
      page('UnstuckDeadRateHigh', 'docs/operations/dead-rate-high.md'),
      page('UnstuckLeasesLost', 'docs/operations/leases-lost.md'),
      page('Clock skew', 'docs/operations/clock-skew.md'),
      page('Table bloat', 'docs/operations/table-bloat.md'),
    ],
  },
  {
    title: 'Move from',
    pages: [
      page('A status column of your own', 'docs/migrate/hand-rolled.md'),
      page('pg-boss', 'docs/migrate/pg-boss.md'),
      page('graphile-worker', 'docs/migrate/graphile-worker.md'),
      page('BullMQ', 'docs/migrate/bullmq.md'),
      page('Solid Queue and GoodJob', 'docs/migrate/solid-queue-and-good-job.md'),
      page('Compare', 'docs/compare.md'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('Overview', 'docs/reference/index.md'),
      page('TypeScript API', 'docs/reference/api.md'),
      page('Configuration', 'docs/reference/config.md'),
      page('Command line', 'docs/reference/cli.md'),
      page('HTTP API', 'docs/reference/http.md'),
      page('SQL functions', 'docs/reference/sql-functions.md'),
      page('Errors', 'docs/reference/errors.md'),
      page('Runtime events', 'docs/reference/events.md'),
      page('Metrics', 'docs/reference/metrics.md'),
    ],
  },
  {
    title: 'Project',
    pages: [
      page('Changelog', 'CHANGELOG.md'),
      page('Security', 'SECURITY.md'),
      page('Embedded PostgreSQL', 'embedded/README.md'),
    ],
  },
]
