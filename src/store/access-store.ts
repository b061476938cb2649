// What a server of the HTTP API keeps beside the jobs: tokens, answered requests, the clock and the feed of events. One for
// all tables of an install.
import type { JobEvent } from '../job/event.ts'

export interface AccessStore {
  readClock(): Promise<ClockReading>
  /** Events of all tables with a greater id, the oldest first. */
  listNewEvents(afterId: string, limit: number): Promise<FeedEvent[]>

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

export interface FeedEvent extends JobEvent {
  attachment: string
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
