// The rules and the dashboard of deploy/ against the metrics that a process really serves, and against the runbooks.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { RuntimeEventEmitter } from '../../../src/observe/events.ts'
import { type Instrument, instruments } from '../../../src/observe/metrics/instruments.ts'
import { createMetrics } from '../../../src/observe/metrics/metrics.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { supabaseSql } from '../../../src/store/postgres/index.ts'

interface DeployFiles {
  listAlerts: (from: typeof instruments) => { name: string; page: string; expr: string }[]
  renderAlerts: (from: typeof instruments) => string
  renderDashboard: (from: typeof instruments) => string
  renderSupabase: (grants: string) => string
}

const root = new URL('../../../', import.meta.url)
const files = (await import(new URL('scripts/docs/deploy-files.mjs', root).href)) as DeployFiles
const { listAlerts, renderAlerts, renderDashboard } = files
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const rules = 'deploy/prometheus/alerts.yml'
const alerts = listAlerts(instruments)

interface Dashboard {
  panels: { type: string; targets?: { expr: string }[] }[]
}
const dashboard = JSON.parse(read('deploy/grafana/unstuck.json')) as Dashboard
const panels = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

const metricsOf = (expr: string) => expr.match(/\bunstuck_[a-z_]+/g) ?? []

/** Every name that a scrape of a process shows, with the series of histograms. */
async function scrapedNames(): Promise<Set<string>> {
  const store = createMemoryStore()
  const metrics = await createMetrics({
    events: new RuntimeEventEmitter(),
    table: 'jobs',
    readHealth: () => store.readHealth(),
    readBreakers: () => store.listBreakers(),
    readSlo: () => store.readSlo(),
  })
  const types = [...(await metrics.text()).matchAll(/^# TYPE (\S+) (\w+)$/gm)]
  metrics.stop()
  const names = types.flatMap(([, name = '', kind]) =>
    kind === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  )
  return new Set(names)
}

it('SEE-6 the files are what the table of metrics renders; `npm run docs:generate` writes them anew', () => {
  expect(read(rules)).toBe(renderAlerts(instruments))
  expect(read('deploy/grafana/unstuck.json')).toBe(renderDashboard(instruments))
})

it('OPS-11 the grants of Supabase are those of the role of workers; `npm run docs:generate` writes them anew', () => {
  expect(read('deploy/supabase.sql')).toBe(files.renderSupabase(supabaseSql('unstuck')))
})

it('SEE-6 every metric that a rule or a panel names is in a scrape', async () => {
  const scraped = await scrapedNames()
  const named = [...alerts.map(({ expr }) => expr), ...panels].flatMap(metricsOf)
  expect(named.length).toBeGreaterThan(alerts.length + panels.length - 1)
  expect(named.filter((name) => !scraped.has(name))).toEqual([])
})

it('SEE-2 every metric has a panel', () => {
  const named = new Set(panels.flatMap(metricsOf).map((name) => name.replace(/_bucket$/, '')))
  expect(Object.values(instruments).filter(({ prometheus }) => !named.has(prometheus))).toEqual([])
})

it('SEE-6 every label by which a rule or a panel distinguishes series is one of its metrics', () => {
  const labelsOf = new Map<string, readonly string[]>(
    Object.values<Instrument>(instruments).map(({ prometheus, labels }) => [prometheus, labels]),
  )
  for (const expr of [...alerts.map((alert) => alert.expr), ...panels]) {
    const known = metricsOf(expr).flatMap(
      (name) => labelsOf.get(name) ?? labelsOf.get(name.replace(/_(bucket|count)$/, '')) ?? [],
    )
    const grouped = [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, by = '']) => by.split(', '))
    const matched = [...expr.matchAll(/[{,](\w+)=~?"/g)].map(([, label = '']) => label)
    const strange = [...grouped, ...matched].filter((label) => label !== 'le' && !known.includes(label))
    expect({ expr, strange }).toEqual({ expr, strange: [] })
  }
})

describe.each(alerts)('$name', ({ name, page }) => {
  it('SEE-6 has a runbook: what it means, where to look, what to do, how to verify and prevent it', () => {
    const text = read(`docs/operations/${page}.md`)
    expect(text.split('\n')[0]).toBe(`# ${name}`)
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(['Means', 'Look', 'Act', 'Verify', 'Prevent'])
    expect(read(rules)).toContain(`runbook: docs/operations/${page}.md`)
    expect(read('docs/operations/alerts.md')).toContain(`[\`${name}\`](${page}.md)`)
  })
})

it('SEE-6 runbooks link to pages that exist', () => {
  for (const page of ['alerts', ...alerts.map((alert) => alert.page)]) {
    const links = [...read(`docs/operations/${page}.md`).matchAll(/\]\(([^)#]+)\)/g)].map(
      ([, link = '']) => link,
    )
    const broken = links.filter((link) => !existsSync(new URL(`docs/operations/${link}`, root)))
    expect({ page, broken }).toEqual({ page, broken: [] })
  }
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

it.skipIf(!hasPromtool)('SEE-6 promtool accepts the rules (needs the program promtool)', () => {
  const checked = spawnSync('promtool', ['check', 'rules', fileURLToPath(new URL(rules, root))], {
    encoding: 'utf8',
  })
  expect(checked.stdout + checked.stderr).toContain(`SUCCESS: ${alerts.length} rules found`)
})
