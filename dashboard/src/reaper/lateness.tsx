import { useState } from 'react'
import type { Reclaim, TableHealth } from '../../../src/http/contract/index.ts'
import { useReclaims, useSlo } from '../api/queries.ts'
import { plural } from '../format/show-time.ts'
import { Empty, Panel, Read } from '../ui/page.tsx'
import { Histogram, type HistogramWords } from './histogram.tsx'
import { percentile } from './rescues.ts'

type Measure = 'lateness' | 'dark'

const MEASURES: Record<
  Measure,
  {
    name: string
    title: string
    value: (reclaim: Reclaim) => number | null
    /** Rescues without this measure only. */
    none: string
    words: HistogramWords
  }
> = {
  lateness: {
    name: 'Lateness',
    title: 'From lease expiry to the rescue',
    value: ({ lateness_ms }) => lateness_ms,
    none: 'No lease expired: the processes of all rescued jobs had ended.',
    words: {
      sentence: (p95, promise) =>
        `95 % of rescues came within ${p95} of lease expiry${promise === null ? '' : `; a sweep runs every ${promise}`}.`,
      p95: 'p95',
      promise: 'sweep interval',
    },
  },
  dark: {
    name: 'Dark time',
    title: 'From the last heartbeat to the next claim',
    value: ({ dark_ms }) => dark_ms,
    none: 'No rescued job runs again yet.',
    words: {
      sentence: (p95, promise) =>
        `95 % of rescued jobs ran again within ${p95} of their last heartbeat, including backoff${promise === null ? '' : `; the promise without backoff is ${promise}`}.`,
      // The panel above has the p95 that the promise is about.
      p95: 'p95 with backoff',
      promise: 'promise',
    },
  },
}

/** Rescue lateness by one of two measures, against the promise. */
export function Lateness({ tables }: { tables: TableHealth[] }) {
  const [measure, setMeasure] = useState<Measure>('dark')
  const reclaims = useReclaims()
  const slo = useSlo()
  const promises =
    measure === 'lateness'
      ? tables.map(({ sweep_interval_ms }) => sweep_interval_ms)
      : (slo.data?.tables.map(({ promise_ms }) => promise_ms) ?? [])
  const { title, value, words, none } = MEASURES[measure]
  return (
    <Panel title={title} aside={<Choice measure={measure} choose={setMeasure} />}>
      <Read what="The rescues" from={reclaims}>
        {({ pages }) => {
          const found = pages.flatMap((page) => page.reclaims)
          const values = found.map(value).filter((ms) => ms !== null)
          const p95 = percentile(values, 0.95)
          if (found.length === 0)
            return <Empty title="No rescues yet.">Requeued jobs of silent workers appear here.</Empty>
          if (p95 === null) return <Empty title={none} />
          return (
            <>
              <Histogram
                values={values}
                promiseMs={promises.length === 0 ? null : Math.max(...promises)}
                p95Ms={p95}
                words={words}
              />
              <p className="text-xs text-soft">of the last {plural(values.length, 'rescue')}</p>
            </>
          )
        }}
      </Read>
    </Panel>
  )
}

function Choice({ measure, choose }: { measure: Measure; choose: (measure: Measure) => void }) {
  return (
    <fieldset className="flex rounded-md border border-line p-0.5">
      <legend className="sr-only">Measure</legend>
      {(['dark', 'lateness'] as const).map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === measure}
          className={`min-h-7 rounded px-2 text-xs ${one === measure ? 'bg-raised font-medium text-ink' : 'text-soft'}`}
          onClick={() => choose(one)}
        >
          {MEASURES[one].name}
        </button>
      ))}
    </fieldset>
  )
}
