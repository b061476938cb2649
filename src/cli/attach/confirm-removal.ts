// The engine serves every table of a schema: taking it out may take it from others than those who ask.
import type { EngineUse, Installer } from '../../compose.ts'
import type { Profile } from '../../profile/profile.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { confirm } from '../terminal/confirm.ts'

/** Asks nobody where only the profile's own tables go by the engine. Null: the person said no. */
export async function confirmRemoval(
  installer: Installer,
  profile: Profile,
  flags: ConnectionFlags & { yes?: boolean; purge?: boolean },
): Promise<EngineUse | null> {
  const use = await installer.readUse()
  const losses = lossesOf(use, profile, flags.purge === true)
  if (losses.length === 0) return use
  const what = `The whole engine goes out of ${installer.place}: ${losses.join('; ')}.`
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
          `${counted(ownJobs, 'job', ' of unstuck’s own table')} ${isPurge ? 'deleted for good' : 'left without functions'}`,
        ]),
    ...(tokens === 0 ? [] : [`${counted(tokens, 'token')} deleted`]),
  ]
}

const counted = (count: number, what: string, where = '') =>
  count === 1 ? `1 ${what}${where} is` : `${count} ${what}s${where} are`
