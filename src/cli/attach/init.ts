import { existsSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { createInstaller, type Installer, planText } from '../../compose/index.ts'
import { type Config, findConfigFile, loadConfig, readsTypeScript } from '../../config/index.ts'
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'
import { profileFrom } from '../../profile/extend-profile.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { printJson, printLine, printProgress } from '../terminal/output.ts'
import { type LayoutName, layoutNames, layouts } from './layouts.ts'
import { configText, nativeConfigText } from './profile-text.ts'
import { type Proposal, proposeProfile } from './propose-profile.ts'
import { writeLayout } from './write-layout.ts'

interface InitFlags extends ConnectionFlags {
  table?: string
  layout: LayoutName
  out?: string
  print?: boolean
  force?: boolean
}

export function defineInit(command: Command): void {
  withConnection(command)
    .option('--table <name>', 'schema.name; default: the only table that looks like a job table')
    .addOption(new Option('--layout <tool>', 'format of the migration').choices(layoutNames).default('plain'))
    .option('--out <folder>', 'folder of the migration; default: that of the tool')
    .option('--print', 'print the migration instead of writing it')
    .option('--force', 'overwrite an existing config file')
    .addHelpText('after', example('unstuck init --table public.executor_jobs'))
    .action(initCommand)
}

async function initCommand(flags: InitFlags): Promise<void> {
  const path = configPath(flags)
  const config = loadWithoutFile(flags)
  const proposal = await propose(config, flags)
  const text = textOf(proposal, path)
  const profile = proposal === null ? undefined : profileFrom(proposal.profile)
  const installer = createInstaller(config, undefined, profile)
  // Everything that may fail happens before the first file is written.
  const sql = await migrationOf(installer, config, flags)
  writeFileSync(resolve(path), text, { flag: flags.force === true ? 'w' : 'wx' })
  const files = sql.write()
  const questions = proposal?.questions ?? []
  if (flags.json === true) {
    const { tableName: table = null, certainty = null } = proposal ?? {}
    const printed = flags.print === true ? { sql: sql.text } : {}
    return printJson({ file: path, table, certainty, questions, migrations: files, ...printed })
  }
  printProgress(`wrote ${path}: ${describe(proposal)}`)
  for (const question of questions) printProgress(`  ? ${question}`)
  for (const file of files) printProgress(`wrote ${file}`)
  if (flags.print === true) process.stdout.write(sql.text)
  else for (const line of nextSteps(proposal, flags, files)) printLine(line)
}

const describe = (proposal: Proposal | null) =>
  proposal === null ? 'the native table' : `a draft profile for ${proposal.tableName}; nothing was run`

/** A new file, or with --force the existing one. */
function configPath(flags: InitFlags): string {
  const existing = flags.config ?? findConfigFile(process.cwd())
  if (existing === undefined || (flags.config !== undefined && !existsSync(flags.config)))
    return existing ?? (readsTypeScript() ? 'unstuck.config.ts' : 'unstuck.config.mjs')
  if (flags.force === true) return flags.config ?? basename(existing)
  throw new UnstuckError('PRECONDITION_FAILED', `${basename(existing)} already exists and was not changed`, {
    hint: 'Add --force to overwrite it, or continue with: unstuck attach --plan',
  })
}

/** Ignores the existing file, which is about to be replaced. */
function loadWithoutFile({ store, databaseUrl = store, schema }: InitFlags): Config {
  const config = loadConfig({ env: process.env, flags: { databaseUrl, schema } })
  for (const warning of config.warnings) printProgress(`unstuck: warning: ${warning}`)
  return config
}

/** Null: no table looks like a job table, so the native one is installed. */
async function propose(config: Config, { table }: InitFlags): Promise<Proposal | null> {
  if (table === undefined && config.databaseUrl === null) return null
  return proposeProfile(config, table).catch((error: unknown) => {
    if (table === undefined && isUnstuckError(error) && error.code === 'TABLE_NOT_FOUND') return null
    throw error
  })
}

function textOf(proposal: Proposal | null, path: string): string {
  const isTypeScript = /\.m?ts$/.test(path)
  if (proposal === null) return nativeConfigText(isTypeScript)
  return configText(proposal.profile, proposal.questions, isTypeScript)
}

interface Migration {
  text: string
  write(): string[]
}

async function migrationOf(installer: Installer, config: Config, flags: InitFlags): Promise<Migration> {
  const { layout, out, print: isPrinted } = flags
  // Without a database this is the plan for an empty one.
  if (config.databaseUrl === null) {
    const text = installer.sql()
    return { text, write: () => (isPrinted === true ? [] : [writeWhole(text)]) }
  }
  const { isConcurrent, folder } = layouts[layout]
  const plan = await installer.plan({ isConcurrent })
  if (plan.steps.length === 0) return { text: '-- Nothing is missing.\n', write: () => [] }
  return {
    text: planText(plan),
    write: () => (isPrinted === true ? [] : writeLayout(plan, layout, out ?? folder, new Date())),
  }
}

const WHOLE = 'unstuck.sql'

function writeWhole(text: string): string {
  if (existsSync(WHOLE))
    throw new UnstuckError('PRECONDITION_FAILED', `${WHOLE} already exists and was not changed`)
  writeFileSync(WHOLE, text, { flag: 'wx' })
  return WHOLE
}

function nextSteps(proposal: Proposal | null, { layout }: InitFlags, files: string[]): string[] {
  const { next } = layouts[layout]
  const first = layout === 'plain' ? `${next} ${files[0] ?? WHOLE}` : next
  if (proposal === null)
    return [`Next:  unstuck migrate up     (or: ${first})`, '       unstuck drill --sweep']
  return [
    'Next:  review the config file',
    `       unstuck attach         (or: ${first})`,
    '       unstuck mode           (shows what sweeps would do; then: unstuck mode reap)',
  ]
}
