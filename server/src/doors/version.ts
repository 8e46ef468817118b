import type { GraphRequest } from '../http/admission.ts'
import type { PipelineDeps } from '../http/pipeline-deps.ts'
import type { Route } from '../http/route-table.ts'

/** Refuses a version that is not served (400). Where it is optional, none is as good as one. */
export function checkVersion(deps: PipelineDeps, route: Route, { path, remote_address, url }: GraphRequest): void {
  if (deps.versions.all.includes(path.version)) return
  if (path.version === '' && route.version !== 'required') return
  deps.strangerLimit.take(remote_address)
  throw deps.explainPath(route.method, url)
}
