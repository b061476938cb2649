import { type Command, InvalidArgumentError, Option } from 'commander'
import { isScope, type Role, scopes } from '../../commands/actor.ts'
import type { CommandContext } from '../../commands/command.ts'
import { createTokenCommands } from '../../commands/token-commands.ts'
import type { TokenRecord } from '../../store/access-store.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { valueOf, withCommands } from '../connection/with-commands.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { readDuration, showTime } from '../terminal/duration.ts'
import { printJson, printLine, printProgress, printTable } from '../terminal/output.ts'

interface CreateFlags extends ConnectionFlags {
  role?: Role
  scopes?: string[]
  owner?: string
  expiresIn?: number
}

export function defineTokens(tokens: Command): void {
  withConnection(tokens.command('create'))
    .description('creates a token and prints its secret once')
    .argument('<name>', 'name of the person or program')
    .addOption(new Option('--role <role>', 'role').choices(['viewer', 'support', 'operator', 'admin']))
    .option('--scopes <scopes>', 'scopes instead of a role: jobs:read,leases:use', readScopes)
    .option('--owner <owner>', 'limit it to the jobs of this owner')
    .option('--expires-in <duration>', 'expire after 12h, 90d', readDuration)
    .addHelpText('after', example('unstuck tokens create ci --role operator --expires-in 90d'))
    .action(createCommand)
  withConnection(tokens.command('list'))
    .description('lists tokens, without their secrets')
    .addHelpText('after', example('unstuck tokens list'))
    .action(listCommand)
  withConnection(tokens.command('revoke'))
    .description('revokes a token')
    .argument('<name>', 'token name')
    .addHelpText('after', example('unstuck tokens revoke ci'))
    .action(revokeCommand)
}

function readScopes(text: string): string[] {
  const words = text.split(',')
  const unknown = words.find((word) => !isScope(word))
  if (unknown !== undefined) throw new InvalidArgumentError(`Scopes: ${scopes.join(', ')}.`)
  return words
}

async function createCommand(name: string, flags: CreateFlags): Promise<void> {
  const { role, scopes: wanted, owner, expiresIn } = flags
  await withTokens(flags, async (commands, context) => {
    const input = { name, role, scopes: wanted, owner, expiresInMs: expiresIn }
    const { token, secret } = valueOf(await commands.createToken(context, input))
    if (flags.json === true) return printJson({ token, secret })
    printLine(secret)
    printProgress(showToken(token).join('  '))
    printProgress('Store the secret now: it cannot be shown again.')
  })
}

async function listCommand(flags: ConnectionFlags): Promise<void> {
  await withTokens(flags, async (commands, context) => {
    const tokens = valueOf(await commands.listTokens(context, undefined))
    if (flags.json === true) return printJson({ tokens })
    if (tokens.length === 0) return printLine('no tokens')
    printTable(tokens.map(showToken))
  })
}

async function revokeCommand(name: string, flags: ConnectionFlags): Promise<void> {
  await withTokens(flags, async (commands, context) => {
    const token = valueOf(await commands.revokeToken(context, name))
    if (flags.json === true) return printJson({ token })
    printLine(`${name} is revoked`)
  })
}

function withTokens(
  flags: ConnectionFlags,
  act: (commands: ReturnType<typeof createTokenCommands>, context: CommandContext) => Promise<void>,
): Promise<void> {
  return withCommands(flags, (context) => act(createTokenCommands(context.access), context))
}

function showToken({ name, scopes: granted, owner, expiresAt, revokedAt }: TokenRecord): string[] {
  const state = revokedAt === null ? '' : `revoked ${showTime(revokedAt)}`
  const end = expiresAt === null ? 'does not expire' : `until ${expiresAt.toISOString()}`
  return [
    name,
    granted.join(','),
    owner === null ? 'all owners' : `owner ${owner}`,
    state === '' ? end : state,
  ]
}
