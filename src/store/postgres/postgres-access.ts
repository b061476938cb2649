// Tokens, answered requests, the clock and the feed of events in PostgreSQL. Nothing is decided here.
import type {
  AccessStore,
  Act,
  ActPage,
  ActRequest,
  BegunRequest,
  ClockReading,
  FeedEvent,
  FoundToken,
  Horizon,
  NewToken,
  RequestKey,
  TokenRecord,
} from '../access-store.ts'
import { type CallQuery, createCallQuery } from './connection/call-query.ts'
import type { Row } from './connection/executor.ts'
import type { PostgresStoreOptions } from './postgres-store.ts'
import { toEvent } from './rows/job-rows.ts'

export function createPostgresAccess({
  client,
  table,
  schema = 'unstuck',
}: PostgresStoreOptions): AccessStore {
  return new PostgresAccess(createCallQuery(client, { schema, table }))
}

const text = (value: unknown) => (value ?? null) as string | null
const dateOrNull = (value: unknown) => (value === null ? null : new Date(value as string))

class PostgresAccess implements AccessStore {
  readonly #call: CallQuery

  constructor(call: CallQuery) {
    this.#call = call
  }

  async readClock(): Promise<ClockReading> {
    const [row = {}] = await this.#call('read_clock', [])
    return { now: new Date(row['now'] as string), lastEventId: String(row['last_event_id']) }
  }

  /** Ids are given without gaps but for transactions that were rolled back. */
  async findEventsStart(events: number): Promise<string> {
    const from = BigInt((await this.readClock()).lastEventId) - BigInt(events)
    return String(from > 0n ? from : 0n)
  }

  async listNewEvents(afterId: string, limit: number): Promise<FeedEvent[]> {
    return (await this.#call('list_new_events', [afterId, limit])).map(toFeedEvent)
  }

  async listLateEvents(ids: string[]): Promise<FeedEvent[]> {
    return (await this.#call('list_late_events', [ids])).map(toFeedEvent)
  }

  async readHorizon(): Promise<Horizon> {
    const [row = {}] = await this.#call('read_horizon', [])
    return { oldestXid: BigInt(String(row['oldest'])), nextXid: BigInt(String(row['next'])) }
  }

  async listActs({ table, actor, cursor, limit }: ActRequest = {}): Promise<ActPage> {
    const params = [table ?? null, actor ?? null, cursor ?? null, limit ?? 100]
    const rows = await this.#call('list_acts', params)
    return { acts: rows.map(toAct), next: text(rows[0]?.['next']) }
  }

  async createToken({ name, sha256, scopes, owner, expiresInMs, actor }: NewToken): Promise<boolean> {
    const params = [name, sha256, [...scopes], owner ?? null, expiresInMs ?? null, actor ?? null]
    const [row] = await this.#call('create_token', params)
    return row?.['is_created'] === true
  }

  async findToken(sha256: string): Promise<FoundToken | null> {
    const [row] = await this.#call('find_token', [sha256])
    if (row === undefined) return null
    return {
      name: String(row['name']),
      sha256: String(row['sha256']),
      scopes: row['scopes'] as string[],
      owner: text(row['owner']),
    }
  }

  async listTokens(): Promise<TokenRecord[]> {
    return (await this.#call('list_tokens', [])).map(toTokenRecord)
  }

  async revokeToken(name: string, actor: string): Promise<boolean> {
    return (await this.#call('revoke_token', [name, actor])).length > 0
  }

  async beginRequest({ actor, key, sha256 }: RequestKey & { sha256: string }): Promise<BegunRequest> {
    const [row = {}] = await this.#call('begin_request', [actor, key, sha256])
    const outcome = row['outcome'] as BegunRequest['outcome']
    if (outcome !== 'answered') return { outcome }
    return { outcome, status: Number(row['status']), answer: String(row['answer']) }
  }

  async finishRequest({ actor, key, status, answer }: RequestKey & { status: number; answer: string }) {
    await this.#call('finish_request', [actor, key, status, answer])
  }

  async forgetRequest({ actor, key }: RequestKey): Promise<void> {
    await this.#call('forget_request', [actor, key])
  }
}

function toFeedEvent(row: Row): FeedEvent {
  return { ...toEvent(row), attachment: String(row['attachment']) }
}

function toAct(row: Row): Act {
  return {
    actId: String(row['id']),
    at: new Date(row['at'] as string),
    type: String(row['type']),
    actor: String(row['actor']),
    reason: text(row['reason']),
    table: text(row['table_name']),
    jobId: text(row['job_id']),
    subject: text(row['subject']),
    details: row['details'] as Act['details'],
  }
}

function toTokenRecord(row: Row): TokenRecord {
  return {
    name: String(row['name']),
    scopes: row['scopes'] as string[],
    owner: text(row['owner']),
    createdAt: new Date(row['created_at'] as string),
    createdBy: text(row['created_by']),
    expiresAt: dateOrNull(row['expires_at']),
    revokedAt: dateOrNull(row['revoked_at']),
  }
}
