// What the run itself did to whom, and when: a reap is judged by it (I19), and so is a late one (I16).

export interface Disturbance {
  /** a worker (`w1`), one process of it (`w1-3`), or `*` */
  who: string
  kind: string
  /** milliseconds of the wall clock */
  from: number
  /** Infinity for what did not come back */
  to: number
}

export class Disturbances {
  list: Disturbance[] = []

  /** @returns ends it */
  begin(who: string, kind: string): () => void {
    const disturbance = { who, kind, from: Date.now(), to: Number.POSITIVE_INFINITY }
    this.list.push(disturbance)
    return () => {
      disturbance.to = Date.now()
    }
  }
}

/** @param workerId `w1-3` */
export function concerns({ who }: Disturbance, workerId: string) {
  return who === '*' || who === workerId || who === workerId.replace(/-\d+$/, '')
}
