import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { Route, Router, Switch } from 'wouter'
import { RequestProblem } from './api/client.ts'
import { useMe } from './api/queries.ts'
import { DeadLettersPage } from './dead-letters/dead-letters.tsx'
import { DependenciesPage } from './dependencies/dependencies.tsx'
import { JobPage } from './job/job.tsx'
import { JobsPage } from './jobs/jobs.tsx'
import { NowPage } from './now/now.tsx'
import { OperationPage } from './operations/operation.tsx'
import { OperationsPage } from './operations/operations.tsx'
import { QueuesPage } from './queues/queues.tsx'
import { ReaperPage } from './reaper/reaper.tsx'
import { AuditPage } from './settings/audit.tsx'
import { DoctorPage } from './settings/doctor.tsx'
import { SettingsPage } from './settings/settings.tsx'
import { SignInPage } from './settings/sign-in.tsx'
import { WebhooksPage } from './settings/webhooks.tsx'
import { Go } from './shell/address.tsx'
import { Overlays } from './shell/overlay.tsx'
import { Shell } from './shell/shell.tsx'
import { Shortcuts } from './shell/shortcuts.tsx'
import { Empty, Page } from './ui/page.tsx'
import { WorkersPage } from './workers/workers.tsx'

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Retries an unreachable server, not a refusal.
      retry: (count, error) => !(error instanceof RequestProblem && error.isFinal) && count < 1,
      retryDelay: 500,
      refetchOnWindowFocus: true,
    },
  },
})

/** The path of <base>, such as `/ops`, without a trailing slash. */
const base = new URL(document.baseURI).pathname.replace(/\/$/, '')

export function App() {
  return (
    <QueryClientProvider client={client}>
      <Router base={base}>
        <Gate />
      </Router>
    </QueryClientProvider>
  )
}

function Gate() {
  const me = useMe()
  if (me.error instanceof RequestProblem && me.error.isSignedOut) return <SignInPage />
  return (
    <>
      <Shortcuts />
      <Shell>
        <Pages />
      </Shell>
      <Overlays />
    </>
  )
}

function Pages() {
  return (
    <Switch>
      <Route path="/" component={NowPage} />
      <Route path="/jobs" component={JobsPage} />
      <Route path="/jobs/:id">{({ id }) => <JobPage key={id} id={decodeURIComponent(id)} />}</Route>
      <Route path="/dead-letters" component={DeadLettersPage} />
      <Route path="/operations" component={OperationsPage} />
      <Route path="/operations/:id">
        {({ id }) => <OperationPage key={id} id={decodeURIComponent(id)} />}
      </Route>
      <Route path="/queues" component={QueuesPage} />
      <Route path="/workers" component={WorkersPage} />
      <Route path="/dependencies" component={DependenciesPage} />
      <Route path="/reaper" component={ReaperPage} />
      <Route path="/doctor" component={DoctorPage} />
      <Route path="/settings" component={SettingsPage} />
      <Route path="/settings/webhooks" component={WebhooksPage} />
      <Route path="/settings/audit" component={AuditPage} />
      <Route>
        <Page title="Not found">
          <div className="panel">
            <Empty title="This page does not exist.">
              <Go to="/">Go to Now</Go>
            </Empty>
          </div>
        </Page>
      </Route>
    </Switch>
  )
}
