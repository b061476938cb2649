// A service on a table in observe mode reports that once, and waits until the mode changes (OPS-14).
import { isUnstuckError } from '../../errors/index.ts'
import type { RuntimeEventEmitter, StandingService } from '../../observe/events.ts'
import type { JobStore } from '../../store/job-store.ts'

export interface StandByOptions {
  service: StandingService
  store: Pick<JobStore, 'readMode'>
  events?: Pick<RuntimeEventEmitter, 'emit'> | undefined
}

export class StandBy {
  readonly #options: StandByOptions
  #isStanding = false

  constructor(options: StandByOptions) {
    this.#options = options
  }

  /** Runs `act`, or returns `otherwise` while the mode forbids it. Only the first refused call reaches the server's log. */
  async act<T, Otherwise>(act: () => Promise<T>, otherwise: Otherwise): Promise<T | Otherwise> {
    const { service, store, events } = this.#options
    if (this.#isStanding && (await store.readMode()).mode === 'observe') return otherwise
    try {
      const answer = await act()
      this.#isStanding = false
      return answer
    } catch (error) {
      if (!isUnstuckError(error, 'WRONG_MODE')) throw error
      if (!this.#isStanding) events?.emit('service:standing-by', { service, error })
      this.#isStanding = true
      return otherwise
    }
  }
}
