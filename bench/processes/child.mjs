// @ts-check
// One process under test: a worker that counts its jobs, a producer, a client that claims, or CPU load. Talks to the parent over
// IPC and exits with it.
import { loadContender } from '../contenders/load-contender.mjs'

/** @import { Addition, Contender, ContenderId, Crew, Payload, Producer, TimedClaim, WorkerReport, WorkPlan } from '../contenders/contender.ts' */

const REPORT_MS = 20
const OFFER_MS = 5

process.on('disconnect', () => process.exit(1))
// The parent gets the signal too and stops this process.
process.on('SIGINT', () => {})

const [role, id = '', url = '', plan = '{}'] = process.argv.slice(2)
const { isProfiled = false, ...crew } = /** @type {WorkPlan & Crew} */ (JSON.parse(plan))
if (role === 'work') await work((contender, onJob) => contender.startWorker(url, onJob))
else if (role === 'handle') await work((contender, onJob) => contender.startHandlers?.(url, onJob, crew))
else if (role === 'work-by-default')
  await work((contender, onJob) => contender.startDefaultWorker?.(url, onJob))
else if (role === 'add') await add(/** @type {Addition[]} */ (JSON.parse(plan)))
else if (role === 'claim') await claim()
else if (role === 'burn') burn()
else throw new Error(`${role} is not a role`)

function clockMs() {
  return performance.timeOrigin + performance.now()
}

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/**
 * @param {number} ms
 * @returns {Promise<void>}
 */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** @param {(contender: Contender, onJob: Parameters<Contender['startWorker']>[1]) => ReturnType<Contender['startWorker']> | undefined} start */
async function work(start) {
  const contender = await loadContender(/** @type {ContenderId} */ (id))
  /** @type {WorkerReport} */
  const report = {
    handled: 0,
    ended: 0,
    firstAtMs: null,
    latenciesMs: [],
    rssMb: 0,
    cpuMs: 0,
    processCpuMs: 0,
  }
  const profile = isProfiled ? (await import('./allocations.mjs')).openProfile() : null
  let startCpuMs = 0
  const onEnd = () => void report.ended++
  const worker = await start(contender, ({ sentAtMs, handlerMs = 0 }) => {
    if (report.firstAtMs === null) {
      report.firstAtMs = clockMs()
      startCpuMs = cpuMs()
    }
    report.handled++
    if (sentAtMs !== undefined) report.latenciesMs.push(clockMs() - sentAtMs)
    if (handlerMs > 0) return pause(handlerMs).then(onEnd)
    report.ended++
    return undefined
  })
  process.send?.({ isReady: true })
  const send = (answer = {}) => {
    const processCpuMs = cpuMs()
    const rssMb = process.memoryUsage.rss() / 2 ** 20
    process.send?.({ ...report, rssMb, cpuMs: processCpuMs - startCpuMs, processCpuMs, ...answer })
    report.latenciesMs = []
  }
  let reported = -1
  setInterval(() => {
    if (report.handled + report.ended === reported) return
    reported = report.handled + report.ended
    send()
  }, REPORT_MS)
  process.on('message', (/** @type {{ end?: string, isAsk?: true }} */ { end: how, isAsk }) => {
    if (isAsk === true) send({ isAnswer: true, ...profile?.read() })
    else if (how === undefined) void worker?.stop().then(() => process.exit(0))
    else end(how)
  })
}

/** @param {string} how */
function end(how) {
  if (how === 'exit') process.exit(1)
  if (how === 'uncaught') throw new Error('uncaught, as asked for')
  const kept = []
  for (;;) kept.push(Array.from({ length: 1_000_000 }, () => Math.random()))
}

/** @param {Addition[]} additions */
async function add(additions) {
  const contender = await loadContender(/** @type {ContenderId} */ (id))
  const producer = await contender.openProducer(url)
  // Opens connections and compiles code.
  await producer.addOne({ i: -1 })
  /** @type {(number | null)[]} */
  const elapsedMs = []
  for (const addition of additions) {
    const startedAtMs = clockMs()
    const isDone = await addJobs(producer, addition)
    elapsedMs.push(isDone ? clockMs() - startedAtMs : null)
  }
  process.send?.({ elapsedMs })
  await producer.close()
  process.exit(0)
}

/**
 * @param {Producer} producer
 * @param {Addition} addition
 * @returns {Promise<boolean>} false if the contender does not support it
 */
async function addJobs(producer, { mode, width, count, handlersMs = [], types: kinds = [] }) {
  if (mode === 'single') await addSingly(producer, width, count)
  else if (mode === 'batch') {
    for (let from = 0; from < count; from += width)
      await producer.addMany(payloads(Math.min(width, count - from), from, handlersMs, kinds))
  } else if (mode === 'paced') await addPaced(producer, width, count)
  else if (mode === 'offered') await offer(producer, width, count, handlersMs)
  else {
    if (producer.addInTransaction === undefined) return false
    await addInTransactions(producer.addInTransaction, count)
  }
  return true
}

/**
 * @param {number} count
 * @param {number} from
 * @param {number[]} handlersMs
 * @param {string[]} [kinds]
 * @returns {Payload[]}
 */
function payloads(count, from, handlersMs, kinds = []) {
  return Array.from({ length: count }, (_, index) => {
    const i = from + index
    const handlerMs = handlersMs[i % handlersMs.length]
    const type = kinds[i % kinds.length]
    return { i, ...(handlerMs === undefined ? {} : { handlerMs }), ...(type === undefined ? {} : { type }) }
  })
}

/**
 * @param {Producer} producer
 * @param {number} callers
 * @param {number} count
 */
async function addSingly(producer, callers, count) {
  let next = 0
  const call = async () => {
    while (next < count) await producer.addOne({ i: next++ })
  }
  await Promise.all(Array.from({ length: callers }, call))
}

/**
 * @param {NonNullable<Producer['addInTransaction']>} addInTransaction
 * @param {number} count
 */
async function addInTransactions(addInTransaction, count) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (let i = 0; i < count; i++) {
    await client.query('begin')
    await addInTransaction(client, { i })
    await client.query('commit')
  }
  await client.end()
}

/**
 * @param {Producer} producer
 * @param {number} ratePerS
 * @param {number} count
 */
async function addPaced(producer, ratePerS, count) {
  const startedAtMs = clockMs()
  /** @type {Promise<unknown>[]} */
  const adding = []
  for (let i = 0; i < count; i++) {
    const waitMs = startedAtMs + (i * 1_000) / ratePerS - clockMs()
    if (waitMs > 0) await pause(waitMs)
    adding.push(producer.addOne({ i, sentAtMs: clockMs() }))
  }
  await Promise.all(adding)
}

/**
 * Adds late what was not added in time: the load is offered whether or not the server keeps up.
 * @param {Producer} producer
 * @param {number} ratePerS
 * @param {number} count
 * @param {number[]} handlersMs
 */
async function offer(producer, ratePerS, count, handlersMs) {
  const startedAtMs = clockMs()
  for (let added = 0; added < count; ) {
    await pause(OFFER_MS)
    const due = Math.min(count, Math.floor(((clockMs() - startedAtMs) * ratePerS) / 1_000), added + 1_000)
    if (due > added) await producer.addMany(payloads(due - added, added, handlersMs))
    added = due
  }
}

/** Keeps one core busy in short turns, so that it notices the end of the parent. */
function burn() {
  const untilMs = clockMs() + REPORT_MS
  while (clockMs() < untilMs);
  setImmediate(burn)
}

/** Claims one job after another from the queue named by `id` until it is stopped. */
async function claim() {
  const { createPostgresStore, openConnectionPool } = await import('../../dist/store/postgres/index.js')
  const { nativeProfile } = await import('../../dist/index.js')
  const pool = openConnectionPool({ databaseUrl: url, connections: 1 })
  const [table] = nativeProfile('unstuck').tables
  const store = createPostgresStore({ client: pool.client, table, schema: 'unstuck' })
  const stopping = new AbortController()
  process.on('message', () => stopping.abort())
  /** @type {TimedClaim[]} */
  const claims = []
  for (let isReady = false; !stopping.signal.aborted; ) {
    const atMs = clockMs()
    await store.claimJobs({ workerId: 'bench', queues: [id], limit: 1 })
    claims.push([atMs, clockMs() - atMs])
    if (!isReady && claims.length === 20) isReady = process.send?.({ isReady: true }) ?? true
  }
  process.send?.({ claims })
  await pool.close()
  process.exit(0)
}
