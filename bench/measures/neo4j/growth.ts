// The cost of finished nodes for a claim. Each variant has its own label, filled once.
import neo4j from 'neo4j-driver'
import { readCypher } from '../../../dist/store/neo4j/graph/cypher-files.js'
import type { Measure, Values } from '../../measure.ts'
import { timeWork } from '../time-work.ts'
import type { Neo4jBench } from './neo4j-bench.ts'
import { type Profile, profileHits, profileText } from './profile-text.ts'

const BATCH = 10
/** Nodes per statement while filling the label. */
const PART = 100_000

const notes: string[] = []

export const neo4jGrowth: Measure<Neo4jBench> = {
  id: 'finished-nodes',
  title: 'A claim beside finished nodes',
  method: `Median ms of one call on one connection, with nothing beside it; claims and completions of ${BATCH}. The hits are those of \`PROFILE\`: of the statement that finds the next jobs, and of the one that locks them.`,
  columns: () => [
    { key: 'claim', title: 'claim ms', digits: 1 },
    { key: 'complete', title: 'complete ms', digits: 1 },
    { key: 'sweep', title: 'sweep ms', digits: 1 },
    { key: 'findHits', title: 'find_due, db hits' },
    { key: 'lockHits', title: 'lock_due, db hits' },
  ],
  variants: async (bench) => {
    notes.splice(0)
    return Promise.all(
      [0, bench.sizes.finished].map(async (finished) => ({
        id: `finished-${finished}`,
        name: finished === 0 ? 'none finished' : `${finished.toLocaleString('en')} finished`,
        run: prepared(bench, finished),
      })),
    )
  },
  notes,
}

/** Filled at its first run. */
function prepared(bench: Neo4jBench, finished: number): () => Promise<Values> {
  const label = finished === 0 ? 'BenchEmptyJob' : 'BenchFullJob'
  let isFilled = false
  return async () => {
    if (!isFilled) {
      await bench.prepare(label)
      for (let done = 0; done < finished; done += PART) {
        bench.progress(`finished-nodes ${done.toLocaleString('en')} of ${finished.toLocaleString('en')} made`)
        await addFinished(bench, label, done, Math.min(PART, finished - done))
      }
    }
    const values = await measure(bench, label)
    const profile = await profileOf(bench, label, 'find_due')
    if (!isFilled) notes.push(profileNote(finished, profile))
    isFilled = true
    const lock = await profileOf(bench, label, 'lock_due')
    return { ...values, findHits: profileHits(profile), lockHits: profileHits(lock) }
  }
}

async function addFinished(
  { driver }: Neo4jBench,
  label: string,
  from: number,
  count: number,
): Promise<void> {
  const session = driver.session()
  await session.run(
    `UNWIND range($from, $to) AS n
     CALL {
       WITH n
       CREATE (:${label} {id: randomUUID(), type: 'noop', queue: 'noop', status: 'completed', priority: 0,
         bucket: n % 8, payload: '{}', attempts: 1, fence: 1, generation: 1, created_at: datetime.statement(),
         updated_at: datetime.statement(), finished_at: datetime.statement(), ended_at: datetime.statement()})
     } IN TRANSACTIONS OF 10000 ROWS`,
    { from: neo4j.int(from), to: neo4j.int(from + count - 1) },
  )
  await session.close()
}

function measure(bench: Neo4jBench, label: string): Promise<Values> {
  const store = bench.openStore(label)
  const enqueue = () => store.enqueueJobs(Array.from({ length: BATCH }, () => ({ type: 'noop' })))
  return timeWork({ store, batch: BATCH, calls: bench.sizes.calls, warmUps: 5, beforeCall: enqueue })
}

/** Profiles a claim that finds enough due jobs. Its writes are rolled back. */
async function profileOf(bench: Neo4jBench, label: string, name: string): Promise<Profile> {
  const limit = neo4j.int(BATCH)
  const asked = {
    cursors: [{ queue: 'noop', after: neo4j.int(-1) }],
    levels: [{ queue: 'noop', priority: neo4j.int(0) }],
    buckets: Array.from({ length: 8 }, (_, bucket) => `noop/${bucket}`),
    bucket: null,
    types: null,
    passed: [],
    limit,
    window: limit,
  }
  const session = bench.driver.session()
  const tx = await session.beginTransaction()
  try {
    await tx.run(
      `UNWIND range(1, $limit) AS n
       CREATE (:${label} {id: randomUUID(), type: 'noop', queue: 'noop', status: 'pending', priority: 0,
         bucket: n % 8, due_at: datetime.statement()})`,
      asked,
    )
    const { summary } = await tx.run(`PROFILE ${readCypher(name, label)}`, asked)
    if (summary.profile === false) throw new Error('the server returned no profile')
    return summary.profile
  } finally {
    await tx.rollback()
    await session.close()
  }
}

function profileNote(finished: number, profile: Profile): string {
  const beside = finished === 0 ? 'none finished' : `${finished.toLocaleString('en')} finished`
  return `\`PROFILE\` of find_due, ${beside}:\n\n\`\`\`\n${profileText(profile)}\n\`\`\``
}
