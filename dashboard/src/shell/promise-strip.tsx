// Key health figures on every page; green only if the data says so.
import type { Slo, TableHealth } from '../../../src/http/contract/index.ts'
import { useSlo } from '../api/queries.ts'
import { showCount, showDuration } from '../format/show-time.ts'
import { showTotal, totalOf } from '../format/totals.ts'
import type { Tone } from '../ui/tone.ts'
import { Go } from './address.tsx'
import { useTableLive } from './use-table-live.ts'

interface Light {
  key: string
  tone: Tone
  value: string
  label: string
  to: string
  values?: Record<string, string>
}

export function PromiseStrip() {
  const { tables, heardAtMs } = useTableLive()
  const slo = useSlo()
  const lights =
    tables === null ? unknownLights : [...healthLights(tables), ...rescueLights(slo.data?.tables ?? [])]
  return (
    <section aria-label="Health" className="border-b border-line bg-panel">
      <ul className="flex flex-wrap gap-x-2 px-2 py-1 md:px-4" aria-busy={heardAtMs === null}>
        {lights.map(({ key, tone, value, label, to, values }) => (
          <li key={key} className="max-w-full">
            <Go
              to={to}
              {...(values === undefined ? {} : { values })}
              className="flex min-h-8 items-center gap-2 rounded-md px-2 hover:bg-raised max-sm:min-h-6 max-sm:text-xs"
            >
              <Sign tone={tone} />
              <span className="font-semibold whitespace-nowrap">{value}</span>
              <span className="truncate text-soft">{label}</span>
            </Go>
          </li>
        ))}
      </ul>
    </section>
  )
}

const SIGNS: Record<Tone, { sign: string; look: string; word: string }> = {
  good: { sign: '✓', look: 'bg-good-wash text-good', word: 'kept' },
  warn: { sign: '!', look: 'bg-warn-wash text-warn', word: 'look' },
  bad: { sign: '✕', look: 'bg-bad-wash text-bad', word: 'broken' },
  info: { sign: 'i', look: 'bg-info-wash text-info', word: 'note' },
  quiet: { sign: '–', look: 'bg-raised text-soft', word: 'unknown' },
}

function Sign({ tone }: { tone: Tone }) {
  const { sign, look, word } = SIGNS[tone]
  return (
    <span className={`grid size-4.5 shrink-0 place-items-center rounded-full text-[11px] font-bold ${look}`}>
      <span aria-hidden="true">{sign}</span>
      <span className="sr-only">{word}:</span>
    </span>
  )
}

const unknownLights: Light[] = [
  { key: 'overdue', tone: 'quiet', value: '–', label: 'past their lease', to: '/reaper' },
  { key: 'reaper', tone: 'quiet', value: '–', label: 'since a reaper swept', to: '/reaper' },
  { key: 'oldest', tone: 'quiet', value: '–', label: 'oldest due job', to: '/jobs' },
]

function healthLights(tables: TableHealth[]): Light[] {
  const largest = (pick: (table: TableHealth) => number | null) =>
    tables.reduce<number | null>((most, table) => Math.max(most ?? 0, pick(table) ?? 0) || null, null)
  const overdue = totalOf(tables, 'overdue')
  const late = largest(({ oldest_overdue_ms }) => oldest_overdue_ms) ?? 0
  const interval = Math.max(...tables.map(({ sweep_interval_ms }) => sweep_interval_ms), 1)
  const isSwept = tables.every(({ reaper_age_ms }) => reaper_age_ms !== null)
  const age = largest(({ reaper_age_ms }) => reaper_age_ms) ?? 0
  const due = largest(({ oldest_due_ms }) => oldest_due_ms)
  const unjudged = totalOf(tables, 'unjudged')
  const running = totalOf(tables, 'running')
  return [
    {
      key: 'overdue',
      tone: overdue.count === 0 ? 'good' : late > interval * 2 ? 'bad' : 'warn',
      value: showTotal(overdue),
      label: overdue.count === 0 ? 'past their lease' : `past their lease, by up to ${showDuration(late)}`,
      to: '/jobs',
      values: { q: 'lease:<0' },
    },
    {
      key: 'reaper',
      tone: tables.every(({ is_reaper_late }) => !is_reaper_late)
        ? 'good'
        : running.count === 0
          ? 'quiet'
          : 'bad',
      value: isSwept ? showDuration(age) : 'never',
      label: isSwept ? 'since a reaper swept' : 'swept',
      to: '/reaper',
    },
    {
      key: 'oldest',
      tone: due === null ? 'good' : due > 600_000 ? 'warn' : 'good',
      value: due === null ? 'none' : showDuration(due),
      label: due === null ? 'due and waiting' : 'oldest due job',
      to: '/jobs',
      values: { q: 'status:waiting' },
    },
    {
      key: 'unjudged',
      tone: unjudged.count === 0 ? 'good' : 'warn',
      value: showTotal(unjudged),
      label: 'of unknown age',
      to: '/reaper',
    },
  ]
}

function rescueLights(slos: Slo[]): Light[] {
  const worst = slos.toSorted(
    (a, b) => Number(a.is_kept) - Number(b.is_kept) || (b.p95_ms ?? -1) - (a.p95_ms ?? -1),
  )[0]
  if (worst === undefined) return []
  const common = { key: 'rescue', to: '/reaper' }
  // A job that is requeued and still waits is not rescued yet.
  if (worst.p95_ms === null) return [{ ...common, tone: 'quiet', value: '0', label: 'rescues completed' }]
  // The promise uses the default lease; each rescue is measured against the lease of its stage.
  const late = worst.rescued - worst.in_time
  return [
    {
      ...common,
      tone: worst.is_kept ? 'good' : 'warn',
      value: showDuration(worst.p95_ms),
      label: worst.is_kept
        ? `rescue p95, promised ${showDuration(worst.promise_ms)}`
        : `rescue p95, ${showCount(late)} of ${showCount(worst.rescued)} late`,
    },
  ]
}
