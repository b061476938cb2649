// What the run itself did to whom, and when: a reap is judged by it (I19), and so is a late one (I16).

/**
 * @typedef {object} Disturbance
 * @property {string} who a worker (`w1`), one process of it (`w1-3`), or `*`
 * @property {string} kind
 * @property {number} from milliseconds of the wall clock
 * @property {number} to Infinity for what did not come back
 */

export class Disturbances {
  /** @type {Disturbance[]} */
  list = []

  /**
   * @param {string} who
   * @param {string} kind
   * @returns {() => void} ends it
   */
  begin(who, kind) {
    const disturbance = { who, kind, from: Date.now(), to: Number.POSITIVE_INFINITY }
    this.list.push(disturbance)
    return () => {
      disturbance.to = Date.now()
    }
  }
}

/**
 * @param {Disturbance} disturbance
 * @param {string} workerId `w1-3`
 */
export function concerns({ who }, workerId) {
  return who === '*' || who === workerId || who === workerId.replace(/-\d+$/, '')
}
