// What a server of the HTTP API keeps beside the jobs: tokens, answered requests, the clock and the feed of events. One for
// all tables of an install.
import type { JobEvent } from '../job/event.ts'
import type { JsonValue } from '../job/job.ts'

export interface AccessStore {
  /** No event shows after one with a greater id, so none has to be looked for. */
  readonly hasOrderedEvents?: boolean
  readClock(): Promise<ClockReading>
  /** The last so many events, or about so many, have greater ids. */
  findEventsStart(events: number): Promise<string>
  /** Events of all tables with a greater id, the oldest first. */
  listNewEvents(afterId: string, limit: number): Promise<FeedEvent[]>
  /** Those of these ids that can be seen now. */
  listLateEvents(ids: string[]): Promise<FeedEvent[]>
  readHorizon(): Promise<Horizon>

  /** What people did to jobs, and to everything else, the newest first. */
  listActs(request?: ActRequest): Promise<ActPage>

  /** False where the name is taken. */
  createToken(token: NewToken): Promise<boolean>
  /** Null where none has this digest, or it is revoked or over. */
  findToken(sha256: string): Promise<FoundToken | null>
  listTokens(): Promise<TokenRecord[]>
  /** False where there is none of this name that works. */
  revokeToken(name: string, actor: string): Promise<boolean>

  beginRequest(request: RequestKey & { sha256: string }): Promise<BegunRequest>
  finishRequest(request: RequestKey & { status: number; answer: string }): Promise<void>
  /** It had no effect: the key may be used again. */
  forgetRequest(request: RequestKey): Promise<void>
}

export interface ClockReading {
  now: Date
  /** `0` where there is none yet. */
  lastEventId: string
}

/** Of transactions that write: all below `oldestXid` are through, none from `nextXid` on has begun. */
export interface Horizon {
  oldestXid: bigint
  nextXid: bigint
}

export interface FeedEvent extends JobEvent {
  attachment: string
}

export interface ActRequest {
  table?: string
  actor?: string
  /** The `next` of an earlier page. */
  cursor?: string
  /** 1 to 1000; 100 where absent. */
  limit?: number
}

export interface ActPage {
  acts: Act[]
  next: string | null
}

export interface Act {
  actId: string
  at: Date
  type: string
  actor: string
  reason: string | null
  /** Null of what all tables share, such as breakers and tokens. */
  table: string | null
  /** Null where it was not done to a job. */
  jobId: string | null
  /** The queue, breaker, worker, webhook or token it was done to. */
  subject: string | null
  details: { [key: string]: JsonValue }
}

export interface NewToken {
  name: string
  /** In hexadecimal, as everywhere here. */
  sha256: string
  scopes: readonly string[]
  owner?: string
  expiresInMs?: number
  actor?: string
}

export interface FoundToken {
  name: string
  sha256: string
  scopes: string[]
  owner: string | null
}

export interface TokenRecord {
  name: string
  scopes: string[]
  owner: string | null
  createdAt: Date
  createdBy: string | null
  expiresAt: Date | null
  revokedAt: Date | null
}

export interface RequestKey {
  actor: string
  key: string
}

export type BegunRequest =
  | { outcome: 'begun' | 'in-progress' | 'reused' }
  | { outcome: 'answered'; status: number; answer: string }
