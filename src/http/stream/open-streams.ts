// Open streams. A stream keeps a connection and a buffer after its request: callers are limited, and their access is checked
// again while they watch.
import type { Actor } from '../../commands/actor.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { StreamLimit } from '../app-options.ts'
import { ApiProblem } from '../problem.ts'

export interface StreamOpener {
  request: Request
  peer: string | null
  actor: Actor
}

/** Streams with the same credentials share one check. */
interface Group extends StreamOpener {
  ends: Set<() => void>
}

const DEFAULT_LIMIT: StreamLimit = { perCaller: 64, total: 1_000 }
const RECHECK_MS = 5_000
const RETRY_AFTER_SEC = '10'

export class OpenStreams {
  readonly #authenticate: Authenticate
  readonly #limit: StreamLimit
  readonly #groups = new Map<string, Group>()
  #timer: NodeJS.Timeout | undefined

  constructor(authenticate: Authenticate, limit: StreamLimit = DEFAULT_LIMIT) {
    this.#authenticate = authenticate
    this.#limit = limit
  }

  /** Throws at the limit. `end` is called when the caller loses access; call the result when the stream ends. */
  enter(opener: StreamOpener, end: () => void): () => void {
    this.#requireRoom(opener.actor.id)
    const key = keyOf(opener)
    const group = this.#groups.get(key) ?? { ...opener, ends: new Set() }
    this.#groups.set(key, group)
    group.ends.add(end)
    this.#timer ??= setInterval(() => void this.#recheck(), RECHECK_MS).unref()
    return () => {
      group.ends.delete(end)
      if (group.ends.size > 0) return
      this.#groups.delete(key)
      if (this.#groups.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #requireRoom(callerId: string): void {
    const { perCaller, total } = this.#limit
    let [own, all] = [0, 0]
    for (const { actor, ends } of this.#groups.values()) {
      all += ends.size
      if (actor.id === callerId) own += ends.size
    }
    if (own < perCaller && all < total) return
    const detail =
      own < perCaller ? 'too many streams are open' : `${callerId} already has ${perCaller} open streams`
    throw new ApiProblem('RATE_LIMITED', detail, {}, { 'retry-after': RETRY_AFTER_SEC })
  }

  async #recheck(): Promise<void> {
    const groups = [...this.#groups.values()]
    const refused = await Promise.all(groups.map((group) => this.#isRefused(group)))
    for (const [index, { ends }] of groups.entries())
      if (refused[index] === true) for (const end of ends) end()
  }

  /** An unreachable database revokes no access: the stream reports `stale`. */
  async #isRefused({ request, peer, actor }: StreamOpener): Promise<boolean> {
    try {
      const { actor: now } = await this.#authenticate(request, peer)
      return rightsOf(now) !== rightsOf(actor)
    } catch (error) {
      return error instanceof ApiProblem
    }
  }
}

const rightsOf = ({ id, owner, scopes }: Actor) => JSON.stringify([id, owner, scopes.toSorted()])

const keyOf = ({ request: { headers }, actor }: StreamOpener) =>
  JSON.stringify([rightsOf(actor), headers.get('authorization'), headers.get('cookie')])
