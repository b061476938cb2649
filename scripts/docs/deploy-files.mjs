// @ts-check
// Renders the Prometheus alert rules and the Grafana dashboard from the table of metrics, so that neither can name a missing
// metric.

/** @import { Instrument, InstrumentName } from '../../src/observe/metrics/instruments.ts' */
/** @typedef {Record<InstrumentName, Instrument>} Instruments */
/** @typedef {{ name: string, page: string, expr: string, for: string, severity: string, summary: string }} Alert */

const RUNBOOKS = 'docs/operations'

/**
 * @param {Instruments} instruments
 * @returns {Alert[]}
 */
export function listAlerts(instruments) {
  const m = namesOf(instruments)
  // All processes read the same value from the database: keep one per table.
  const worst = (/** @type {string} */ metric) => `max by (table) (${metric})`
  const promise = worst(m.rescuePromise)
  return [
    {
      name: 'UnstuckStuckOver2xTTL',
      page: 'stuck-over-2x-ttl',
      // Twice the lease: a rescue takes one lease and a little more.
      expr: `${worst(m.oldestOverdue)} > on (table) ${promise}`,
      for: '1m',
      severity: 'critical',
      summary: 'A job of {{ $labels.table }} has been past its lease for {{ $value | humanizeDuration }}',
    },
    {
      name: 'UnstuckNoReaper',
      page: 'no-reaper',
      expr:
        `min by (table) (${m.reaperAge}) > 180 or (${worst(m.overdueJobs)} >= 0 unless on (table) ` +
        `${worst(m.reaperAge)}) or absent(${m.overdueJobs})`,
      for: '2m',
      severity: 'critical',
      summary: 'Nobody sweeps {{ $labels.table }}',
    },
    {
      name: 'UnstuckRescueSlow',
      page: 'rescue-slow',
      expr: `${worst(`${m.rescues}{in_time="false"}`)} > on (table) 0.05 * sum by (table) (max by (table, in_time) (${m.rescues}))`,
      for: '10m',
      severity: 'warning',
      summary:
        'More than 5 % of the rescues in {{ $labels.table }} came late within 24 hours: {{ $value }} jobs',
    },
    {
      name: 'UnstuckBreakerOpenLong',
      page: 'breaker-open-long',
      expr: `max by (name) (${m.breakerState}{state="open"}) == 1`,
      for: '10m',
      severity: 'warning',
      summary: 'The breaker {{ $labels.name }} has been open for more than 10 minutes',
    },
    {
      name: 'UnstuckOldestWaiting',
      page: 'oldest-waiting',
      expr: `${worst(m.oldestWaiting)} > 900`,
      for: '5m',
      severity: 'warning',
      summary: 'A due job of {{ $labels.table }} has waited for {{ $value | humanizeDuration }}',
    },
    {
      name: 'UnstuckDeadRateHigh',
      page: 'dead-rate-high',
      expr:
        `sum by (table) (rate(${m.jobsFailed}[10m])) > 0.05 * sum by (table) (rate(${m.jobDuration}_count[10m])) ` +
        `and on (table) sum by (table) (increase(${m.jobsFailed}[10m])) >= 5`,
      for: '5m',
      severity: 'warning',
      summary: 'More than 5 % of the attempts in {{ $labels.table }} end in a dead letter',
    },
    {
      name: 'UnstuckLeasesLost',
      page: 'leases-lost',
      expr: `sum by (table) (increase(${m.leasesLost}[15m])) > 0`,
      for: '0m',
      severity: 'warning',
      summary: 'Workers of {{ $labels.table }} lost leases while they worked: {{ $value }} in 15 minutes',
    },
  ]
}

/** @param {Instruments} instruments */
export function renderAlerts(instruments) {
  const rules = listAlerts(instruments).flatMap(({ name, page, expr, for: wait, severity, summary }) => [
    `      - alert: ${name}`,
    `        expr: ${quote(expr)}`,
    `        for: ${wait}`,
    '        labels:',
    `          severity: ${severity}`,
    '        annotations:',
    `          summary: ${quote(summary)}`,
    `          runbook: ${RUNBOOKS}/${page}.md`,
  ])
  return [
    '# Made by `npm run docs:generate`. Copy it and change thresholds in the copy.',
    'groups:',
    '  - name: unstuck',
    '    rules:',
    ...rules,
    '',
  ].join('\n')
}

/** A JSON string is valid YAML. @param {string} text */
function quote(text) {
  return JSON.stringify(text)
}

/** @type {{ title: string, of: InstrumentName[] }[]} */
const SECTIONS = [
  {
    title: 'Promise',
    of: [
      'overdueJobs',
      'oldestOverdue',
      'reaperAge',
      'rescues',
      'rescuesByCause',
      'rescueTime',
      'rescuePromise',
    ],
  },
  { title: 'Queues', of: ['queueDepth', 'oldestWaiting', 'queuePaused', 'unjudgedJobs'] },
  {
    title: 'Jobs',
    of: ['jobsCreated', 'jobsCompleted', 'jobsFailed', 'retriesScheduled', 'jobsRunning', 'jobDuration'],
  },
  { title: 'Leases', of: ['leasesLost', 'handlersHung', 'heartbeats', 'heartbeatsFailed', 'loopLag'] },
  { title: 'Reaper', of: ['reaperRequeues', 'reaperFailures', 'reaperScanDuration', 'sweepsFailed'] },
  { title: 'Dependencies', of: ['breakerState', 'breakerOpen', 'gatewayCallDuration', 'limitReleases'] },
]

const PANEL_WIDTH = 8
const PANEL_HEIGHT = 7
const COLUMNS = 24 / PANEL_WIDTH

/** @param {Instruments} instruments */
export function renderDashboard(instruments) {
  const placed = SECTIONS.flatMap(({ of }) => of)
  const names = /** @type {InstrumentName[]} */ (Object.keys(instruments))
  const others = { title: 'Others', of: names.filter((name) => !placed.includes(name)) }
  let y = 0
  let id = 0
  const panels = [...SECTIONS, others].flatMap(({ title, of }) => {
    const row = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { h: 1, w: 24, x: 0, y },
      panels: [],
    }
    const shown = of.map((name, index) => {
      const x = (index % COLUMNS) * PANEL_WIDTH
      const top = y + 1 + Math.floor(index / COLUMNS) * PANEL_HEIGHT
      return {
        id: ++id,
        ...panelOf(instruments[name]),
        gridPos: { h: PANEL_HEIGHT, w: PANEL_WIDTH, x, y: top },
      }
    })
    y += 1 + Math.ceil(of.length / COLUMNS) * PANEL_HEIGHT
    return [row, ...shown]
  })
  const dashboard = {
    uid: 'unstuck',
    title: 'unstuck',
    tags: ['unstuck'],
    schemaVersion: 39,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        {
          name: 'table',
          label: 'Table',
          type: 'query',
          datasource: { type: 'prometheus', uid: '${datasource}' },
          query: `label_values(${instruments.overdueJobs.prometheus}, table)`,
          includeAll: true,
          multi: true,
          refresh: 2,
        },
      ],
    },
    panels,
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

const UNITS = { 1: 'short', s: 's', ms: 'ms' }

/** @param {Instrument} instrument */
function panelOf({ kind, prometheus, help, labels, unit }) {
  const series = labels.filter((label) => label !== 'table')
  return {
    type: 'timeseries',
    title: titleOf(prometheus, kind),
    description: help,
    datasource: { type: 'prometheus', uid: '${datasource}' },
    fieldConfig: { defaults: { unit: kind === 'counter' ? 'ops' : UNITS[unit], min: 0 }, overrides: [] },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: [
      {
        refId: 'A',
        expr: expressionOf(kind, prometheus, labels),
        legendFormat: (series.length === 0 ? labels : series).map((label) => `{{${label}}}`).join(' '),
      },
    ],
  }
}

/**
 * @param {string} name
 * @param {Instrument['kind']} kind
 */
function titleOf(name, kind) {
  const words = name
    .replace(/^unstuck_/, '')
    .replace(/_(total|seconds|ms)\b/g, '')
    .replaceAll('_', ' ')
  const suffix = { counter: ' per second', histogram: ', 95th percentile', gauge: '' }[kind]
  return `${words[0]?.toUpperCase()}${words.slice(1)}${suffix}`
}

/**
 * @param {Instrument['kind']} kind
 * @param {string} name
 * @param {readonly string[]} labels
 */
function expressionOf(kind, name, labels) {
  const filter = labels.includes('table') ? '{table=~"$table"}' : ''
  const by = labels.join(', ')
  if (kind === 'gauge') return `max by (${by}) (${name}${filter})`
  if (kind === 'counter') return `sum by (${by}) (rate(${name}${filter}[$__rate_interval]))`
  return `histogram_quantile(0.95, sum by (le, ${by}) (rate(${name}_bucket${filter}[$__rate_interval])))`
}

/**
 * @param {Instruments} instruments
 * @returns {Record<InstrumentName, string>}
 */
function namesOf(instruments) {
  const entries = Object.entries(instruments).map(([name, { prometheus }]) => [name, prometheus])
  return /** @type {Record<InstrumentName, string>} */ (Object.fromEntries(entries))
}

/**
 * @param {string} grants
 * @returns {string}
 */
export function renderSupabase(grants) {
  return `-- The grants of a Supabase project: service_role does the work, anon and authenticated get nothing. Run it as the
-- owner of the tables (postgres) after unstuck attach or unstuck migrate up, and again after an upgrade.
-- docs/guides/tables/supabase.md says more.

${grants}`
}
