// The engine with one rule taken out each (correctness.md, M1–M20): a model that does not notice is no proof of the rule.
import type pg from 'pg'
import { type RenderOptions, render } from '../../src/store/postgres/render/render.ts'
import { readRoutines } from '../../src/store/postgres/sql-files.ts'

export interface Mutant {
  id: string
  /** The fault that the model finds. */
  fault: string
  edits: Edit[]
}

interface Edit {
  routine: string
  find: RegExp
  replacement: string
}

const leaseCheck = /job\."lease_id" = \w+\.lease_id/

function edit(routine: string, find: RegExp, replacement: string): Edit {
  return { routine, find, replacement }
}

export const mutants: Mutant[] = [
  {
    id: 'M1',
    fault: 'a completion without a lease check',
    edits: [edit('complete_batch', /job\."lease_id" = v_lease_id/, 'true')],
  },
  {
    id: 'M68',
    fault: 'a completion that deletes the row without a lease check',
    edits: [edit('delete_completed', /job\."lease_id" = p_lease_id/, 'true')],
  },
  { id: 'M2', fault: 'a failure without a lease check', edits: [edit('fail_jobs', leaseCheck, 'true')] },
  { id: 'M3', fault: 'a release without a lease check', edits: [edit('release_jobs', leaseCheck, 'true')] },
  {
    id: 'M4',
    fault: 'a heartbeat without a lease check',
    edits: [edit('heartbeat_jobs', leaseCheck, 'true'), edit('extend_free_leases', leaseCheck, 'true')],
  },
  {
    id: 'M4',
    fault: 'a change of stage without a lease check',
    edits: [edit('enter_stage', /job\."lease_id" = p_lease_id/, 'true')],
  },
  {
    id: 'M83',
    fault: 'a report of progress without a lease check',
    edits: [edit('report_progress', leaseCheck, 'true')],
  },
  {
    id: 'M7',
    fault: 'attempts counted at the failure instead of the claim',
    edits: [
      edit(
        'claim_due',
        /v_counted int := \(p_policy\.attempt_counted_at = 'claim'\)::int/,
        'v_counted int := 0',
      ),
      edit('failed_attempt', /attempt_counted_at = 'failure' and/, "attempt_counted_at = 'claim' and"),
    ],
  },
  {
    id: 'M8',
    fault: 'a reap that gives the attempt back',
    edits: [edit('reap_jobs', /"attempt" = judged\.attempt_after/, '"attempt" = judged.attempt_after - 1')],
  },
  {
    id: 'M9',
    fault: 'a sweep that holds nothing back after an outage',
    edits: [edit('is_held', /return coalesce\(/, 'return false and coalesce(')],
  },
  {
    id: 'M15',
    fault: 'a retry that does not look at the owner',
    edits: [edit('retry_jobs', /p_owner is null or job\."owner"(?:::text)? = p_owner/, 'true')],
  },
  {
    id: 'M16',
    fault: 'a completion that does not remember its lease',
    edits: [edit('complete_batch', /"finished_lease_id" = job\."lease_id",/, '')],
  },
  {
    id: 'M16',
    fault: 'a repeated completion that is answered as a lost lease',
    edits: [edit('job_outcomes', /else 'already-done' end/, "else 'lease-lost' end")],
  },
  {
    id: 'M17',
    fault: 'a lease id that is the name of the worker',
    edits: [
      edit(
        'claim_batches',
        /lease_id := (?:pg_catalog\.)?gen_random_uuid\(\)/,
        'lease_id := md5(p_worker_id)::uuid',
      ),
    ],
  },
  {
    id: 'M19',
    fault: 'a sweep without a limit',
    edits: [edit('reap_jobs', /order by job\."id" limit p_limit/, 'order by job."id"')],
  },
  {
    id: 'M20',
    fault: 'a cancel that overwrites a completed job',
    edits: [
      edit(
        'cancel_jobs',
        /job\."status" = \/\*waiting\*\/'waiting' as is_waiting/,
        `job."status" in (/*waiting*/'waiting', /*succeeded*/'succeeded') as is_waiting`,
      ),
    ],
  },
]

/** Replaces the installed functions by the mutant's for the time of `work`. */
export async function withMutant<T>(
  pool: pg.Pool,
  options: RenderOptions,
  { edits }: Mutant,
  work: () => Promise<T>,
): Promise<T> {
  const originals = new Map(edits.map(({ routine }) => [routine, textOf(routine)]))
  const mutated = new Map(originals)
  for (const { routine, find, replacement } of edits) {
    mutated.set(routine, replaceOnce(routine, mutated.get(routine) ?? '', find, replacement))
  }
  try {
    await install(pool, options, mutated)
    return await work()
  } finally {
    await install(pool, options, originals)
  }
}

const textOf = (name: string) => readRoutines().find((routine) => routine.name === name)?.text ?? ''

/** A mutant whose text is not there any more would be the engine itself, and never be noticed. */
function replaceOnce(routine: string, text: string, find: RegExp, replacement: string): string {
  const changed = text.replace(find, () => replacement)
  if (changed === text)
    throw new Error(`${routine} has no ${find.source}: adapt the mutant to what it says now`)
  return changed
}

async function install(pool: pg.Pool, options: RenderOptions, files: Map<string, string>): Promise<void> {
  for (const text of files.values()) await pool.query(render(text, options))
}
