// A log of the faults injected: who was hit and when. Reaps are judged against it (I19, I16).

export interface Disturbance {
  /** A worker (`w1`), one process of it (`w1-3`), or `*` for everybody. */
  who: string
  kind: string
  /** Wall clock, in milliseconds. */
  from: number
  /** Infinity if it never ended. */
  to: number
  /** The shard whose connections or server it hit. Absent if it hit processes, or there is one database. */
  shard?: number
}

/** These hit a process, and with it the jobs of every shard that it runs. */
const OF_PROCESSES = new Set(['gone', 'pause', 'block', 'clock-stepped'])

export class Disturbances {
  list: Disturbance[] = []

  /** Returns a function that ends the disturbance. */
  begin(who: string, kind: string, shard?: number): () => void {
    const disturbance: Disturbance = { who, kind, from: Date.now(), to: Number.POSITIVE_INFINITY }
    if (shard !== undefined && !OF_PROCESSES.has(kind)) disturbance.shard = shard
    this.list.push(disturbance)
    return () => {
      disturbance.to = Date.now()
    }
  }

  /** For faults of one shard. */
  ofShard(shard: number): Pick<Disturbances, 'begin'> {
    return { begin: (who, kind) => this.begin(who, kind, shard) }
  }
}

/** Whether it affects the worker process, such as `w1-3`. */
export function concerns({ who }: Disturbance, workerId: string) {
  return who === '*' || who === workerId || who === workerId.replace(/-\d+$/, '')
}
