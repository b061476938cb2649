// Buttons that kill real workers. Only the server of `unstuck demo` has these routes.
import { useQuery } from '@tanstack/react-query'
import { messageOf, request } from '../api/client.ts'
import { useCommand } from '../api/commands.ts'
import { useConfig } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { say } from '../ui/toast.tsx'

interface DemoActs {
  acts: { name: string; title: string }[]
}

export function DemoControls() {
  const config = useConfig()
  const demo = useQuery({
    queryKey: ['demo'],
    queryFn: () => request<DemoActs>('GET', 'demo'),
    // Other servers are not asked.
    enabled: config.data?.environment === 'demo',
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const perform = useCommand((name: string) => request('POST', `demo/${encodeURIComponent(name)}`))
  if (demo.data === undefined) return null
  return (
    <section
      aria-label="Demo"
      className="flex flex-wrap items-center gap-2 border-b border-line bg-raised px-4 py-2 md:px-6"
    >
      <h2 className="mr-2 text-sm font-semibold">Break real workers:</h2>
      {demo.data.acts.map(({ name, title }) => (
        <Button
          key={name}
          kind={name === 'down' ? 'danger' : 'plain'}
          onClick={() =>
            perform.mutate(name, {
              onSuccess: () => say(`${title}: started`),
              onError: (error) => say(messageOf(error), { isBad: true }),
            })
          }
        >
          {title}
        </Button>
      ))}
    </section>
  )
}
