// The engine serves every table of a schema: removing it may affect other teams.
import type { EngineUse, Installer } from '../../compose/index.ts'
import type { Profile } from '../../profile/profile.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { confirm } from '../terminal/confirm.ts'

/** Asks only if tables outside the profile use the engine. Null: the answer was no. */
export async function confirmRemoval(
  installer: Installer,
  profile: Profile,
  flags: ConnectionFlags & { yes?: boolean; purge?: boolean },
): Promise<EngineUse | null> {
  const use = await installer.readUse()
  const losses = lossesOf(use, profile, flags.purge === true)
  if (losses.length === 0) return use
  const what = `This removes the whole engine from ${installer.place}: ${losses.join('; ')}.`
  return (await confirm(what, flags)) ? use : null
}

function lossesOf(use: EngineUse, profile: Profile, isPurge: boolean): string[] {
  const { isInstalled, attached, ownJobs, tokens } = use
  const ours = new Set(profile.tables.map(({ schema, table }) => `${schema}.${table}`))
  const others = attached.filter((table) => !ours.has(table))
  return [
    ...(others.length === 0
      ? []
      : [`${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} detached too`]),
    ...(ownJobs === 0 || !(isInstalled || isPurge)
      ? []
      : [
          `${counted(ownJobs, 'job', ' of unstuck’s own table')} ${isPurge ? 'deleted permanently' : 'left without functions'}`,
        ]),
    ...(tokens === 0 ? [] : [`${counted(tokens, 'token')} deleted`]),
  ]
}

const counted = (count: number, what: string, where = '') =>
  count === 1 ? `1 ${what}${where} is` : `${count} ${what}s${where} are`
