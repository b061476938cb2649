// The alerts as Prometheus evaluates them: each fires on what it is for, and is silent on a healthy day.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const rules = fileURLToPath(new URL('../../../deploy/prometheus/alerts.yml', import.meta.url))
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

type Series = [series: string, values: string]

/** Thirty minutes in which nothing is wrong. */
const healthy: Series[] = [
  ['unstuck_oldest_overdue_seconds{table="jobs"}', '0x30'],
  ['unstuck_rescue_promise_seconds{table="jobs"}', '120x30'],
  ['unstuck_overdue_jobs{table="jobs"}', '0x30'],
  ['unstuck_reaper_age_seconds{table="jobs"}', '5x30'],
  ['unstuck_oldest_waiting_seconds{table="jobs"}', '3x30'],
  ['unstuck_breaker_state{name="gateway",state="open"}', '0x30'],
  ['unstuck_leases_lost_total{table="jobs"}', '0x30'],
]

const troubles: [alert: string, labels: Record<string, string>, changed: Series][] = [
  ['UnstuckStuckOver2xTTL', { table: 'jobs' }, ['unstuck_oldest_overdue_seconds{table="jobs"}', '121x30']],
  ['UnstuckNoReaper', { table: 'jobs' }, ['unstuck_reaper_age_seconds{table="jobs"}', '181x30']],
  ['UnstuckOldestWaiting', { table: 'jobs' }, ['unstuck_oldest_waiting_seconds{table="jobs"}', '901x30']],
  [
    'UnstuckBreakerOpenLong',
    { name: 'gateway' },
    ['unstuck_breaker_state{name="gateway",state="open"}', '1x30'],
  ],
  ['UnstuckLeasesLost', { table: 'jobs' }, ['unstuck_leases_lost_total{table="jobs"}', '0x20 1x10']],
]

function expectAlert(series: Series[], alert: string, labels: Record<string, string> | null): void {
  const folder = mkdtempSync(join(tmpdir(), 'unstuck-alerts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const query = labels === null ? 'ALERTS' : `ALERTS{alertname="${alert}",alertstate="firing"}`
  const wanted = Object.entries(labels ?? {}).map(([name, value]) => `${name}="${value}"`)
  const test = {
    interval: '1m',
    input_series: series.map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: labels === null ? query : `count by (${Object.keys(labels).join()}) (${query})`,
        eval_time: '25m',
        exp_samples: labels === null ? [] : [{ labels: `{${wanted.join()}}`, value: 1 }],
      },
    ],
  }
  // JSON is YAML.
  const file = join(folder, 'alerts.test.yml')
  writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests: [test] }))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  expect({ status, said: `${stdout}${stderr}` }).toMatchObject({ status: 0 })
}

it.skipIf(!hasPromtool)('SEE-6 no alert fires while all is well (needs the program promtool)', () => {
  expectAlert(healthy, '', null)
})

it.skipIf(!hasPromtool).each(troubles)(
  'SEE-6 %s fires when it has to (needs the program promtool)',
  (...trouble) => {
    const [alert, labels, [name, values]] = trouble
    expectAlert([...healthy.filter(([each]) => each !== name), [name, values]], alert, labels)
  },
)

it.skipIf(!hasPromtool)(
  'SEE-6 a server that tells nothing at all is an alert too (needs the program promtool)',
  () => {
    expectAlert([['up', '1x30']], 'UnstuckNoReaper', { severity: 'critical' })
  },
)
