import type { SqlClient } from '../../../src/store/postgres/connection/executor.ts'

export interface OpenClient {
  transaction<T>(work: (tx: SqlClient) => Promise<T>): Promise<T>
  order(tx: SqlClient, item: string): Promise<unknown>
  /** The client itself, outside of any transaction. */
  outside: SqlClient
  close(): Promise<unknown>
}

export const clients: Record<string, (url: string) => Promise<OpenClient>>
/** Whether the packages of a client are installed. */
export function isInstalled(name: string): boolean
