// Names of the indexes of a job table. An index whose keys depend on the profile or on the columns of the table has a name for
// each form, so that one can be built before the other is dropped.
import type { LogicalColumn, TableProfile } from '../../../profile/profile.ts'
import type { Partition, RenderOptions } from './render-options.ts'

/** Keys that an index has only if the table has their columns. With `group_key`, `jobs_ready` is built again under its name. */
const optionalKeys: Record<string, LogicalColumn[]> = {
  jobs_ready: ['queue', 'type', 'priority'],
  jobs_ended: ['updated_at'],
}

const groupIndexes = ['jobs_grouped', 'jobs_group_members']

/** Columns without which a table has no such index. */
export function neededColumn(index: string): LogicalColumn | null {
  if (index === 'jobs_dedupe') return 'dedupe_key'
  return groupIndexes.includes(index) ? 'group_key' : null
}

/** Each index of sql/attach/indexes with its name on this table. */
export function indexNames(options: RenderOptions): [string, string][] {
  const { table, absent, partition } = options
  return [
    ...['jobs_ready', 'jobs_running', 'jobs_dead', 'jobs_ended', ...groupIndexes].map(
      (index): [string, string] => [index, indexName(table, index, partition, variantOf(index, absent))],
    ),
    ['jobs_dedupe', indexName(table, dedupeIndex(options), partition)],
  ]
}

function indexName(table: TableProfile, index: string, partition?: Partition, variant = 0): string {
  if (table.attachment === 'native') return index
  const name = `unstuck_${table.attachment}_${index.replace('jobs_', '')}${variant === 0 ? '' : `_${variant}`}`
  return partition === undefined ? name : partitionIndex(name, partition)
}

/** A bit for each key that is missing. */
function variantOf(index: string, absent: RenderOptions['absent']): number {
  const bits = (optionalKeys[index] ?? []).map((column) => (absent?.has(column) === true ? '1' : '0'))
  return Number.parseInt(`0${bits.join('')}`, 2)
}

/** Across partitions, PostgreSQL can only enforce uniqueness that includes the partition key. */
export function hasUniqueKeys({ table, partitions }: RenderOptions): boolean {
  return table.hasUniqueDedupeKey === true && partitions === undefined
}

function dedupeIndex(options: RenderOptions): string {
  return hasUniqueKeys(options) || options.partitions !== undefined ? 'jobs_dedupe' : 'jobs_keys'
}

/** The dedupe index of an earlier attach, under another setting of the profile. */
export function replacedDedupeIndex(options: RenderOptions): string | null {
  if (options.partitions !== undefined || options.table.attachment === 'native') return null
  return indexName(options.table, hasUniqueKeys(options) ? 'jobs_keys' : 'jobs_dedupe')
}

/** `jobs_group_members` has taken their place. */
const formerIndexes = ['jobs_group_heads', 'jobs_group_running']

/** Names of indexes that an earlier install may have left: of an earlier version, under another setting of the profile, or with fewer columns. */
export function replacedIndexes(options: RenderOptions): string[] {
  const { table, absent } = options
  const former = formerIndexes.map((index) => indexName(table, index))
  if (table.attachment === 'native') return former
  const dedupe = replacedDedupeIndex(options)
  const others = Object.entries(optionalKeys).flatMap(([index, keys]) =>
    Array.from({ length: 2 ** keys.length }, (_, variant) => variant)
      .filter((variant) => variant !== variantOf(index, absent))
      .map((variant) => indexName(table, index, undefined, variant)),
  )
  return [...(dedupe === null ? [] : [dedupe]), ...others, ...former]
}

/** detach_table relies on this name. */
export function partitionIndex(index: string, { oid }: Partition): string {
  return `${index}_p${oid}`
}
