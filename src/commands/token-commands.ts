// Tokens of the HTTP API. The secret is returned once; the database keeps its digest only.
import { createHash, randomBytes } from 'node:crypto'
import type { AccessStore, TokenRecord } from '../store/access-store.ts'
import { isScope, type Role, roles, type Scope } from './actor.ts'
import { command, done, refused } from './command.ts'
import { given } from './given.ts'

export interface NewTokenInput {
  name: string
  /** Excludes `scopes`. */
  role?: Role | undefined
  scopes?: readonly string[] | undefined
  owner?: string | undefined
  expiresInMs?: number | undefined
}

export interface CreatedToken {
  token: TokenRecord
  secret: string
}

const PREFIX = 'unstuck_'

export const digestOf = (secret: string) => createHash('sha256').update(secret).digest('hex')

export function createTokenCommands(access: AccessStore) {
  return {
    createToken: command('createToken', async ({ actor }, input: NewTokenInput) => {
      const { name, role, scopes, owner, expiresInMs } = input
      if ((role === undefined) === (scopes === undefined))
        return refused('INVALID_ARGUMENT', 'give either a role or scopes')
      const wanted: readonly string[] = role === undefined ? (scopes ?? []) : roles[role]
      const unknown = wanted.find((scope) => !isScope(scope))
      if (unknown !== undefined)
        return refused('INVALID_ARGUMENT', `scopes: ${unknown.slice(0, 64)} is not a scope`)
      const missing = wanted.find((scope) => !actor.scopes.includes(scope as Scope))
      if (missing !== undefined)
        return refused('FORBIDDEN', `${actor.id} cannot grant the scope ${missing}, which it does not have`)
      const secret = PREFIX + randomBytes(32).toString('base64url')
      const isCreated = await access.createToken({
        name,
        sha256: digestOf(secret),
        scopes: [...new Set(wanted)],
        actor: actor.id,
        ...given({ owner, expiresInMs }),
      })
      const token = (await access.listTokens()).find((other) => other.name === name)
      if (!isCreated || token === undefined)
        return refused('STATE_CONFLICT', `the token name ${name} is taken; a revoked token keeps its name`)
      return done<CreatedToken>({ token, secret })
    }),

    listTokens: command('listTokens', async () => done<TokenRecord[]>(await access.listTokens())),

    revokeToken: command('revokeToken', async ({ actor }, name: string) => {
      const isRevoked = await access.revokeToken(name, actor.id)
      const token = (await access.listTokens()).find((other) => other.name === name)
      if (!isRevoked || token === undefined)
        return refused('NOT_FOUND', `no active token is called ${name.slice(0, 64)}`)
      return done<TokenRecord>(token)
    }),
  }
}
