// The streams that are open. A stream outlives the request that opened it and keeps a connection and a buffer: no caller may
// have all there are, and whoever was let in is looked at again while it watches.
import type { Actor } from '../../commands/actor.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { StreamLimit } from '../app-options.ts'
import { ApiProblem } from '../problem.ts'

export interface StreamOpener {
  request: Request
  peer: string | null
  actor: Actor
}

/** Streams of one caller that were opened with the same credentials: one look is enough for all of them. */
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

  /** Throws if there is no room. `end` is called once the caller is no longer let in; the answer is called at the end. */
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
      own < perCaller ? 'too many streams are open' : `${callerId} has ${perCaller} streams open already`
    throw new ApiProblem('RATE_LIMITED', detail, {}, { 'retry-after': RETRY_AFTER_SEC })
  }

  async #recheck(): Promise<void> {
    const groups = [...this.#groups.values()]
    const refused = await Promise.all(groups.map((group) => this.#isRefused(group)))
    for (const [index, { ends }] of groups.entries())
      if (refused[index] === true) for (const end of ends) end()
  }

  /** A database that does not answer refuses nobody: the stream says that it is stale. */
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
