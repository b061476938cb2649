// Migration files for other tools. CONCURRENTLY cannot run in a transaction, and each tool handles transactions in its own
// way: the head of each file says how.
import { type AttachPlan, planText, statementsOf, withLimits } from '../../compose/index.ts'

export const layoutNames = ['plain', 'supabase', 'prisma', 'drizzle'] as const
export type LayoutName = (typeof layoutNames)[number]

export interface MigrationFile {
  /** Path within the migrations folder. */
  path: string
  text: string
}

export interface Layout {
  folder: string
  /** The tool can build indexes without blocking writers. */
  isConcurrent: boolean
  /** The command that applies the files. */
  next: string
  files(plan: AttachPlan, place: Place): MigrationFile[]
}

export interface Place {
  /** In UTC: 20260131000000. */
  timestamp: string
  /** Number of the next migration, for tools that count them. */
  ordinal: number
}

const PROPOSED =
  '-- Written by `unstuck attach` for the tables as they were at that time. Nothing has been run yet.'

const plain: Layout = {
  folder: '.',
  isConcurrent: true,
  next: 'psql -v ON_ERROR_STOP=1 -f',
  files: (plan, { timestamp }) => [
    {
      path: `${timestamp}_unstuck.sql`,
      text: script([
        PROPOSED,
        '-- For psql, without -1: indexes are built CONCURRENTLY, which cannot run in a transaction.',
        planText(plan),
      ]),
    },
  ],
}

const supabase: Layout = {
  folder: 'supabase/migrations',
  isConcurrent: true,
  next: 'supabase db push',
  files: (plan, { timestamp }) => [
    {
      path: `${timestamp}_unstuck.sql`,
      text: script([
        PROPOSED,
        '-- The CLI runs this file as one transaction; the next file has the indexes.',
        ...inTransaction(plan),
      ]),
    },
    {
      path: `${later(timestamp, 1)}_unstuck_indexes.sql`,
      text: script([
        PROPOSED,
        '-- CONCURRENTLY cannot run in a transaction: Supabase CLI 2.109 or newer runs these statements outside of one. An older',
        '-- CLI refuses them (SQLSTATE 25001) and changes nothing: then run `unstuck attach`, which builds the missing indexes.',
        ...withLimits(plan, statementsOf(plan.steps, false)),
      ]),
    },
  ],
}

/** Prisma runs only a file with a single statement outside of a transaction. */
const prisma: Layout = {
  folder: 'prisma/migrations',
  isConcurrent: true,
  next: 'prisma migrate deploy',
  files: (plan, { timestamp }) => [
    {
      path: `${timestamp}_unstuck/migration.sql`,
      text: script([
        PROPOSED,
        '-- Prisma runs a file of several statements as one transaction; each index has its own migration after it.',
        ...inTransaction(plan),
      ]),
    },
    ...statementsOf(plan.steps, false).map((statement, index) => ({
      path: `${later(timestamp, index + 1)}_unstuck_index_${index + 1}/migration.sql`,
      text: script([
        PROPOSED,
        '-- CONCURRENTLY cannot run in a transaction: keep this file at one statement, which Prisma runs outside of one.',
        statement,
      ]),
    })),
  ],
}

const BREAKPOINT = '--> statement-breakpoint'

const drizzle: Layout = {
  folder: 'drizzle',
  isConcurrent: false,
  next: 'drizzle-kit migrate',
  files: (plan, { ordinal }) => {
    const [others, indexes] = splitIndexes(plan)
    return [
      {
        path: `${numbered(ordinal)}_unstuck.sql`,
        text: `${PROPOSED}\n${[plan.limitLocks, ...others].join(`\n${BREAKPOINT}\n`)}\n`,
      },
      {
        path: `${numbered(ordinal + 1)}_unstuck_indexes.sql`,
        text: [
          PROPOSED,
          '-- Drizzle runs migrations in a transaction, where CONCURRENTLY cannot run: these builds block writers while they run.',
          '-- On a large table in use, apply the previous migration alone, run `unstuck attach`, which builds the indexes without',
          '-- blocking, and then apply this one: it skips existing indexes.',
          `${indexes.join(`\n${BREAKPOINT}\n`)}\n`,
        ].join('\n'),
      },
    ]
  },
}

export const layouts: Readonly<Record<LayoutName, Layout>> = { plain, supabase, prisma, drizzle }

function inTransaction({ limitLocks, steps }: AttachPlan): string[] {
  return [limitLocks, ...statementsOf(steps, true)]
}

function splitIndexes({ steps }: AttachPlan): [others: string[], indexes: string[]] {
  const isIndexes = ({ title }: { title: string }) => title.startsWith('the indexes of ')
  return [
    steps.filter((step) => !isIndexes(step)).flatMap(({ statements }) => statements),
    steps.filter(isIndexes).flatMap(({ statements }) => statements),
  ]
}

const script = (parts: string[]) => `${parts.map((part) => part.trim()).join('\n\n')}\n`

const numbered = (ordinal: number) => String(ordinal).padStart(4, '0')

/** Tools sort by name: related files are one second apart. */
function later(timestamp: string, seconds: number): string {
  const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(timestamp) ?? []
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return timestampOf(new Date(time + seconds * 1000))
}

export function timestampOf(time: Date): string {
  return time.toISOString().slice(0, 19).replaceAll(/\D/g, '')
}
