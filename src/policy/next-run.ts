import { Cron } from 'croner'
import { invalidArgument } from '../errors/index.ts'

/**
 * The first occurrence after a time; null if there is none. A local time that DST skips runs at the end of the gap. One that
 * DST repeats runs once, the first time; hourly and more frequent schedules run in both hours.
 */
export function nextRun(cron: string, timezone: string, after: Date): Date | null {
  checkTimezone(timezone)
  if (Number.isNaN(after.getTime())) throw invalidArgument('after', after, 'a valid date')
  return parse(cron, timezone).nextRun(after)
}

const takes =
  'five fields (minute, hour, day of month, month, day of week), six with seconds before them, or seven with years after'

function parse(cron: string, timezone: string): Cron {
  let parsed: Cron
  try {
    parsed = new Cron(cron, { timezone })
  } catch (cause) {
    throw invalidArgument('cron', cron, takes, { cause })
  }
  // The library also accepts a single date, which never recurs.
  if (parsed.getOnce() !== null) throw invalidArgument('cron', cron, takes)
  return parsed
}

function checkTimezone(timezone: string): void {
  const takesName = 'the name of a time zone, such as UTC or Europe/Berlin'
  // Intl reads undefined, and the library an empty string, as the zone of this machine.
  if (typeof timezone !== 'string' || timezone === '') throw invalidArgument('timezone', timezone, takesName)
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch (cause) {
    throw invalidArgument('timezone', timezone, takesName, { cause })
  }
}
