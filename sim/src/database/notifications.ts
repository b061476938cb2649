// NOTIFY and LISTEN of the simulated server: connections that listen, and faults that lose, delay and repeat what they hear.
import { withResolvers } from '../../../src/runtime/timing/with-resolvers.ts'
import type { NotificationConnection } from '../../../src/store/notification-connection.ts'
import type { VirtualTime } from '../world/virtual-time.ts'
import type { SessionNetwork } from './session-connection.ts'

interface Listening {
  owner: string
  /** Null until it has subscribed. */
  onPayload: ((payload: string) => void) | null
  onEnd: (isByServer: boolean) => void
}

/** Notifications of a while. */
export interface Trouble {
  /** How many are lost; as many of the others come twice. */
  share: number
  /** How late the others are, at most. */
  mostMs: number
}

export class Notifications {
  trouble: Trouble | null = null
  readonly #time: VirtualTime
  readonly #random: () => number
  readonly #open = new Set<Listening>()

  /** A process learns now that the server has ended its connection. */
  readonly #onLost: (owner: string) => void

  constructor(time: VirtualTime, random: () => number, onLost: (owner: string) => void) {
    this.#time = time
    this.#random = random
    this.#onLost = onLost
  }

  notify(payload: string): void {
    for (const { onPayload } of this.#open) if (onPayload !== null) this.#deliver(() => onPayload(payload))
  }

  #deliver(arrive: () => void): void {
    if (this.trouble === null) return arrive()
    const { share, mostMs } = this.trouble
    if (this.#random() < share) return
    const times = this.#random() < share ? 2 : 1
    for (let nth = 0; nth < times; nth++) this.#time.after(mostMs * this.#random() ** 2, null, arrive)
  }

  /** The server ends the connections of one process, or all of them. */
  endAll(owner?: string): void {
    for (const listening of this.#open)
      if (owner === undefined || listening.owner === owner) this.#end(listening, true)
  }

  #end(listening: Listening, isByServer: boolean): void {
    if (this.#open.delete(listening)) listening.onEnd(isByServer)
  }

  connect(owner: string, network: SessionNetwork): NotificationConnection {
    const lost = withResolvers<Error>()
    let isLeft = false
    const ended = () => new Error('the connection was closed')
    const listening: Listening = {
      owner,
      onPayload: null,
      onEnd: (isByServer) =>
        network.notify(() => {
          if (isByServer && !isLeft) this.#onLost(owner)
          lost.resolve(ended())
        }),
    }
    return {
      connect: () => network.call('connect', () => void this.#open.add(listening)),
      subscribe: (onPayload) =>
        network.call('listen', () => {
          if (!this.#open.has(listening)) throw ended()
          listening.onPayload = (payload) => network.notify(() => onPayload(payload))
          return { channel: 'jobs', isDirect: true }
        }),
      untilLost: () => lost.promise,
      end: async () => {
        isLeft = true
        network.send(() => this.#end(listening, false))
      },
    }
  }
}
