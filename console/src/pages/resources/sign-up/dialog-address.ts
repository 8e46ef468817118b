/** Where a business connects itself to an app: the dialog sends the browser to the redirect address afterwards, with the state as it is here. */
export function writeDialogAddress(
  base: string,
  { app_id, redirect_uri, state }: { readonly app_id: string; readonly redirect_uri: string; readonly state: string },
): string {
  const query = new URLSearchParams({ client_id: app_id, redirect_uri, state, response_type: 'code' })
  return `${base}/dialog/oauth?${query}`
}
