import { messageOf } from '../api/client.ts'
import { signOut } from '../api/commands.ts'
import { useConfig, useMe, useTokens } from '../api/queries.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Page, Panel, Read } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { useRefusal } from '../ui/use-refusal.ts'
import { changeSettings, type Settings, useSettings } from './preferences.ts'
import { SettingsTabs } from './settings-tabs.tsx'

export function SettingsPage() {
  const settings = useSettings()
  return (
    <Page title="Settings">
      <SettingsTabs />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Panel title="This browser">
          <div className="flex flex-col gap-4">
            <Choices
              legend="Theme"
              value={settings.theme}
              options={{ system: 'System', light: 'Light', dark: 'Dark' }}
              choose={(theme) => changeSettings({ theme })}
            />
            <Choices
              legend="Motion"
              value={settings.motion}
              options={{ system: 'System', still: 'Reduced' }}
              choose={(motion) => changeSettings({ motion })}
            />
            <Check
              name="Single-key shortcuts"
              hint="? lists them"
              isOn={settings.hasShortcuts}
              change={(hasShortcuts) => changeSettings({ hasShortcuts })}
            />
            <Check
              name="Compact lists"
              isOn={settings.isDense}
              change={(isDense) => changeSettings({ isDense })}
            />
          </div>
        </Panel>
        <You />
      </div>
      <Tokens />
      <Configuration />
    </Page>
  )
}

interface ChoicesProps<Name extends string> {
  legend: string
  value: Name
  options: Record<Name, string>
  choose: (value: Name) => void
}

function Choices<Name extends Settings['theme'] | Settings['motion']>({
  legend,
  value,
  options,
  choose,
}: ChoicesProps<Name>) {
  return (
    <fieldset className="flex flex-wrap gap-x-5 gap-y-1">
      <legend className="mb-1 font-medium">{legend}</legend>
      {(Object.entries(options) as [Name, string][]).map(([name, text]) => (
        <label key={name} className="flex min-h-6 items-center gap-2">
          <input
            type="radio"
            name={legend}
            className="size-4 accent-accent-fill"
            checked={value === name}
            onChange={() => choose(name)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

function Check({
  name,
  hint,
  isOn,
  change,
}: {
  name: string
  hint?: string
  isOn: boolean
  change: (isOn: boolean) => void
}) {
  return (
    <label className="flex min-h-6 items-center gap-2">
      <input
        type="checkbox"
        className="size-4 accent-accent-fill"
        checked={isOn}
        onChange={(event) => change(event.target.checked)}
      />
      {name}
      {hint === undefined ? null : <span className="text-soft">({hint})</span>}
    </label>
  )
}

function You() {
  const me = useMe()
  const leave = () =>
    signOut().then(
      () => location.reload(),
      (error: unknown) => say(messageOf(error), { isBad: true }),
    )
  return (
    <Panel title="You">
      <Read what="Your account" from={me}>
        {({ id, scopes, owner, is_read_only }) => (
          <div className="flex flex-col items-start gap-3">
            <p>
              <span className="font-semibold">{id}</span>
              {owner === null ? '' : `, limited to the jobs of ${owner}`}{' '}
              {is_read_only ? <Badge tone="quiet">read-only</Badge> : null}
            </p>
            <p className="flex flex-wrap gap-1">
              {scopes.map((scope) => (
                <Badge key={scope} tone="quiet">
                  {scope}
                </Badge>
              ))}
            </p>
            <Button onClick={() => void leave()}>Sign out</Button>
          </div>
        )}
      </Read>
    </Panel>
  )
}

function Tokens() {
  const refusal = useRefusal()
  const isAllowed = refusal('listTokens') === null
  const tokens = useTokens(isAllowed)
  if (!isAllowed || tokens.data === undefined || tokens.data.tokens.length === 0) return null
  return (
    <Panel title="Tokens" aside="create one with unstuck tokens create">
      <ul className="flex flex-col divide-y divide-line">
        {tokens.data.tokens.map(({ name, scopes, owner, expires_at, revoked_at }) => (
          <li key={name} className="flex flex-wrap items-center gap-x-3 py-1.5">
            <span className="font-medium">{name}</span>
            {revoked_at === null ? null : <Badge tone="bad">revoked</Badge>}
            <span className="text-soft">
              {scopes.length} scopes{owner === null ? '' : `, owner ${owner}`}
            </span>
            <span className="ml-auto text-xs text-soft">
              ends <Time at={expires_at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Configuration() {
  const config = useConfig()
  return (
    <Panel title="Server configuration" aside="secrets are masked">
      <Read what="The configuration" from={config}>
        {({ values }) => (
          <div
            className="relative overflow-x-auto"
            role="region"
            aria-label="Table of configuration"
            tabIndex={0}
          >
            <table className="w-full text-left">
              <thead className="text-xs text-soft max-sm:sr-only">
                <tr>
                  {['Setting', 'Value', 'From'].map((name) => (
                    <th key={name} scope="col" className="py-1.5 pr-4 font-medium">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {values.map(({ name, value, source }) => (
                  <tr key={name} className="border-t border-line max-sm:block max-sm:py-1.5">
                    <td className="py-1 pr-4 font-mono text-xs max-sm:block max-sm:py-0 max-sm:font-semibold">
                      {name}
                    </td>
                    <td className="max-w-96 py-1 pr-4 font-mono text-xs wrap-anywhere max-sm:block max-sm:py-0">
                      {typeof value === 'string' ? value : JSON.stringify(value)}
                    </td>
                    <td className="py-1 text-soft max-sm:block max-sm:py-0 max-sm:text-xs">{source}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Read>
    </Panel>
  )
}
