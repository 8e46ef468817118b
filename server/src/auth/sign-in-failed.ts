/** Why somebody is not signed in by an issuer, for the page that says so. */
export type SignInProblem = 'unreachable' | 'refused' | 'declined' | 'stale' | 'not_allowed'

export class SignInFailed extends Error {
  readonly problem: SignInProblem

  constructor(problem: SignInProblem, reason: string) {
    super(reason)
    this.problem = problem
  }
}
