// State of an HTTP API server: tokens, idempotent requests, the audit log, the clock and the event feed. One for all tables of
// an install.
import type { JobEvent } from '../job/event.ts'
import type { JsonValue } from '../job/job.ts'

export interface AccessStore {
  /** Events become visible in the order of their ids, so late ones need not be looked for. */
  readonly hasOrderedEvents?: boolean
  readClock(): Promise<ClockReading>
  /** An id that about this many events follow. */
  findEventsStart(events: number): Promise<string>
  /** The last id, or those of each node of Citus that has given some: their ids do not grow from node to node. */
  lastEventIds(): Promise<string[]>
  /** Events of all tables with a greater id, oldest first. */
  listNewEvents(afterId: string, limit: number): Promise<FeedEvent[]>
  /** Those of these ids that are visible now. */
  listLateEvents(ids: string[]): Promise<FeedEvent[]>
  readHorizon(): Promise<Horizon>

  /** Operator actions on jobs and everything else, newest first. */
  listAuditEntries(request?: AuditRequest): Promise<AuditPage>

  /** False if the name is taken. */
  createToken(token: NewToken): Promise<boolean>
  /** Null if no token has this digest, or it has expired. */
  findToken(sha256: string): Promise<FoundToken | 'revoked' | null>
  listTokens(): Promise<TokenRecord[]>
  /** False if no valid token has this name. */
  revokeToken(name: string, actor: string): Promise<boolean>

  beginRequest(request: RequestKey & { sha256: string }): Promise<BegunRequest>
  finishRequest(request: RequestKey & { status: number; answer: string }): Promise<void>
  /** The request had no effect: its key may be used again. */
  forgetRequest(request: RequestKey): Promise<void>
}

export interface ClockReading {
  now: Date
  /** `0` before the first event. */
  lastEventId: string
}

/** All writing transactions below `oldestXid` have ended, none from `nextXid` on has begun. */
export interface Horizon {
  oldestXid: bigint
  nextXid: bigint
}

export interface FeedEvent extends JobEvent {
  attachment: string
}

export interface AuditRequest {
  table?: string
  actor?: string
  /** The `next` of an earlier page. */
  cursor?: string
  /** 1 to 1000. Default: 100. */
  limit?: number
}

export interface AuditPage {
  entries: AuditEntry[]
  next: string | null
}

export interface AuditEntry {
  entryId: string
  at: Date
  type: string
  actor: string
  reason: string | null
  /** Null for objects that all tables share, such as breakers and tokens. */
  table: string | null
  /** Null if it does not concern a job. */
  jobId: string | null
  /** The queue, breaker, worker, webhook or token concerned. */
  subject: string | null
  details: { [key: string]: JsonValue }
}

export interface NewToken {
  name: string
  /** Hexadecimal, as everywhere here. */
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
