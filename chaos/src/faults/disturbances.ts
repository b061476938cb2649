// A log of the faults injected: who was hit and when. Reaps are judged against it (I19, I16).

export interface Disturbance {
  /** A worker (`w1`), one process of it (`w1-3`), or `*` for everybody. */
  who: string
  kind: string
  /** Wall clock, in milliseconds. */
  from: number
  /** Infinity if it never ended. */
  to: number
}

export class Disturbances {
  list: Disturbance[] = []

  /** Returns a function that ends the disturbance. */
  begin(who: string, kind: string): () => void {
    const disturbance = { who, kind, from: Date.now(), to: Number.POSITIVE_INFINITY }
    this.list.push(disturbance)
    return () => {
      disturbance.to = Date.now()
    }
  }
}

/** Whether it affects the worker process, such as `w1-3`. */
export function concerns({ who }: Disturbance, workerId: string) {
  return who === '*' || who === workerId || who === workerId.replace(/-\d+$/, '')
}
