// A worker whose listening connection is lost knows at once that no hints reach it: it polls more often from then on (C16).
import type { Evidence } from '../world/evidence.ts'
import type { SimWorker } from '../world/sim-worker.ts'
import type { VirtualTime } from '../world/virtual-time.ts'
import type { Departures } from './leaving/departures.ts'

/** A new connection takes longer. */
const KNOWN_MS = 100

interface HintLossesRun {
  time: VirtualTime
  evidence: Pick<Evidence, 'hearsHintsSince'>
  departures: Pick<Departures, 'has'>
}

export class HintLosses {
  readonly #run: HintLossesRun
  readonly #onViolation: (message: string) => void

  constructor(run: HintLossesRun, onViolation: (message: string) => void) {
    this.#run = run
    this.#onViolation = onViolation
  }

  /** The worker learns of it now, or as the first thing once its event loop is free. */
  noteLoss(worker: Pick<SimWorker, 'name' | 'main'> | undefined): void {
    if (worker === undefined) return
    const { name, main } = worker
    const { time, evidence, departures } = this.#run
    const toldAtMs = time.nowMs
    time.after(KNOWN_MS, main, () => {
      if (!departures.has(name) && evidence.hearsHintsSince(name, toldAtMs))
        this.#onViolation(`${name} lost its listening connection at ${toldAtMs} ms, and trusts hints`)
    })
  }
}
