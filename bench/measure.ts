// A measure is a table: a row per variant, a column per value. All variants run once, then all again for each repetition.
import type { Contender, ContenderId } from './contenders/contender.ts'
import { loadContender } from './contenders/load-contender.mjs'
import { meterOthers } from './processes/load-meter.ts'
import type { Servers } from './processes/servers.ts'
import type { Column, MeasureResult } from './report/result.ts'
import { type Spread, spreadOf } from './report/statistics.ts'
import type { Sizes } from './sizes.ts'

/** Input of every measure. */
export interface Run {
  repetitions: number
  progress(text: string): void
  /** Aborted when the run is interrupted. */
  signal: AbortSignal
}

export interface Bench extends Run {
  servers: Servers
  sizes: Sizes
  isQuick: boolean
  /** Null: all. */
  contenders: ContenderId[] | null
}

export type Values = Record<string, number>

export interface Variant {
  id: string
  name: string
  /** Settings. */
  settings?: string
  run(): Promise<Values>
}

export interface Measure<On extends Run = Bench> extends Omit<MeasureResult, 'columns' | 'rows'> {
  /** Has one repetition: takes minutes and varies little. */
  isOnce?: boolean
  columns(bench: On): Column[]
  variants(bench: On): Variant[] | Promise<Variant[]>
}

export class LeftOut extends Error {}

const leftOutBy = (error: unknown) => new LeftOut(error instanceof Error ? error.message : String(error))

export async function runMeasure<On extends Run>(measure: Measure<On>, bench: On): Promise<MeasureResult> {
  const { id, title, chart, isUpright, notes, isOnce = false } = measure
  const repetitions = isOnce ? 1 : bench.repetitions
  const method = isOnce ? `${measure.method} One repetition.` : measure.method
  const variants = await variantsOf(measure, bench)
  const tries = variants.map((variant) => ({
    variant,
    runs: [] as Values[],
    others: [] as number[],
    problem: null as string | null,
  }))
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const row of tries) {
      if (row.problem !== null) continue
      bench.signal.throwIfAborted()
      bench.progress(`${id} ${repetition}/${repetitions} ${row.variant.id}`)
      const othersCpu = meterOthers()
      try {
        row.runs.push(await row.variant.run())
        const others = othersCpu()
        if (others !== null) row.others.push(others)
      } catch (error) {
        bench.signal.throwIfAborted()
        row.problem = error instanceof Error ? error.message : String(error)
        bench.progress(`${id} ${row.variant.id}: left out, ${row.problem}`)
      }
    }
  }
  return {
    id,
    title,
    method,
    ...(chart === undefined ? {} : { chart }),
    ...(isUpright === undefined ? {} : { isUpright }),
    ...(notes === undefined ? {} : { notes }),
    columns: measure.columns(bench),
    rows: tries.map(({ variant, runs, others, problem }) => ({
      id: variant.id,
      name: variant.name,
      settings: variant.settings ?? null,
      values: spreads(runs),
      othersCpu: others.length === 0 ? null : spreadOf(others),
      problem,
    })),
  }
}

/** A measure that cannot start is left out, and not the end of a run of an hour. */
async function variantsOf<On extends Run>(measure: Measure<On>, bench: On): Promise<Variant[]> {
  try {
    return await measure.variants(bench)
  } catch (error) {
    return [{ id: measure.id, name: measure.title, run: () => Promise.reject(leftOutBy(error)) }]
  }
}

function spreads(runs: Values[]): Record<string, Spread> {
  const keys = new Set(runs.flatMap((run) => Object.keys(run)))
  return Object.fromEntries(
    [...keys].map((key) => {
      const values = runs.map((run) => run[key]).filter((value) => value !== undefined)
      return [key, spreadOf(values)] as const
    }),
  )
}

/** A variant for each requested contender. Those not installed are reported as left out. */
export async function contenderVariants(
  bench: Bench,
  ids: readonly ContenderId[],
  run: (id: ContenderId, contender: Contender) => Promise<Values>,
  settingsOf = ({ settings }: Contender) => settings,
): Promise<Variant[]> {
  const asked = ids.filter((id) => bench.contenders === null || bench.contenders.includes(id))
  return Promise.all(asked.map((id) => contenderVariant(bench, id, run, settingsOf)))
}

async function contenderVariant(
  bench: Bench,
  id: ContenderId,
  run: (id: ContenderId, contender: Contender) => Promise<Values>,
  settingsOf: (contender: Contender) => string,
): Promise<Variant> {
  try {
    const contender = await loadContender(id)
    const { name, needs } = contender
    const why = bench.servers.missing[needs]
    return {
      id,
      name,
      settings: settingsOf(contender),
      run: () => (why === undefined ? run(id, contender) : Promise.reject(new LeftOut(why))),
    }
  } catch (error) {
    return {
      id,
      name: id,
      run: () => Promise.reject(leftOutBy(error)),
    }
  }
}
