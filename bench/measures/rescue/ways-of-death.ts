// The time until a job runs again, by the way in which its worker ended: by presence if the process died, else by the lease.
import { TcpProxy } from '../../../chaos/dist/faults/tcp-proxy.js'
import { loadContender } from '../../contenders/load-contender.mjs'
import { type Bench, LeftOut, type Measure, type Values, type Variant } from '../../measure.ts'
import { type BenchWorker, clockMs } from '../../processes/processes.ts'
import { type Rescue, runRescue } from './run-rescue.ts'

const ID = 'unstuck'

type Way = Pick<Rescue, 'process' | 'reroute' | 'end'>

/** From the signal. */
const signalled = (signal: NodeJS.Signals) => (worker: BenchWorker) => {
  const sentAtMs = clockMs()
  worker.kill(signal)
  return sentAtMs
}

/** From the end of the process: running out of memory takes a while. */
const ended = (how: 'exit' | 'uncaught' | 'memory', nodeOptions: string[] = []): Way => ({
  process: { nodeOptions, isSilent: true },
  async end(worker) {
    worker.end(how)
    return worker.exitedAtMs
  },
})

const ways: { id: string; name: string; open: () => Way }[] = [
  {
    id: 'kill',
    name: 'kill -9, or a container stopped without grace',
    open: () => ({ end: signalled('SIGKILL') }),
  },
  { id: 'exit', name: 'process.exit', open: () => ended('exit') },
  { id: 'uncaught', name: 'uncaught exception', open: () => ended('uncaught') },
  {
    id: 'memory',
    name: 'out of memory',
    open: () => ended('memory', ['--max-old-space-size=64']),
  },
  { id: 'frozen', name: 'frozen (SIGSTOP)', open: () => ({ end: signalled('SIGSTOP') }) },
  { id: 'unreachable', name: 'machine or network gone (silent connections)', open: unreachable },
]

/** Its connections pass no byte any more, and stay open on both sides. */
function unreachable(): Way & { close(): Promise<void> } {
  let proxy: TcpProxy | undefined
  return {
    async reroute(url) {
      const target = new URL(url)
      proxy = new TcpProxy(Number(target.port))
      target.port = String(await proxy.listen())
      return target.href
    },
    end() {
      proxy?.blackhole()
      return clockMs()
    },
    close: async () => proxy?.close(),
  }
}

export const waysOfDeath: Measure = {
  id: 'rescue-ways',
  title: 'Rescue by the way a worker ends',
  isOnce: true,
  method:
    'A worker process of unstuck with the defaults runs a long job, two others are idle. The first ends; the time until one of the others starts the job. A dead process is found by presence, a frozen or unreachable one by its lease.',
  columns: () => [{ key: 'rescueMs', title: 'runs again after ms' }],
  variants: (bench) => [
    ...(bench.isQuick ? ways.slice(0, 2) : ways).map((way) => variantOf(bench, way)),
    hung,
  ],
}

function variantOf(bench: Bench, { id, name, open }: (typeof ways)[number]): Variant {
  return {
    id,
    name,
    async run(): Promise<Values> {
      const way: Way & { close?(): Promise<void> } = open()
      try {
        const contender = await loadContender(ID)
        return { rescueMs: await runRescue(bench, { id: ID, contender, idleWorkers: 2, ...way }) }
      } finally {
        await way.close?.()
      }
    },
  }
}

const hung: Variant = {
  id: 'hung',
  name: 'handler hangs, process alive',
  run: () => Promise.reject(new LeftOut('at its deadline, 24 h by default')),
}
