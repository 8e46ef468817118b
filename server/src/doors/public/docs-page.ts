import { composePage, escapeHtml, hashSource, type Page, writeInlineJson } from './page.ts'

export interface DocsPageOptions {
  /** The path in front of every path of the service, where a proxy put one; usually empty. */
  readonly prefix: string
  /** Where the script is served. */
  readonly scriptUrl: string
  /** Filled in as the token, so that a request can be tried at once. */
  readonly demoToken: string | undefined
}

const style = 'body{margin:0}noscript{display:block;padding:2rem;font:16px system-ui,sans-serif}'

/** The page to read and try the API. Everything that would come from or go to another host is off. */
export function composeDocsPage({ prefix, scriptUrl, demoToken }: DocsPageOptions): Page {
  const settings = {
    sources: [
      { title: 'Business API', slug: 'business', url: `${prefix}/openapi.json`, default: true },
      { title: 'Gateway', slug: 'gateway', url: `${prefix}/openapi-gateway.json` },
    ],
    telemetry: false,
    withDefaultFonts: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    documentDownloadType: 'json',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    authentication: {
      preferredSecurityScheme: 'bearer',
      ...(demoToken !== undefined && { securitySchemes: { bearer: { token: demoToken } } }),
    },
  }
  // The page asks the host that it came from, by whichever name the reader reached it: no other is allowed to it.
  const script = `Scalar.createApiReference('#app',Object.assign(${writeInlineJson(settings)},{servers:[{url:location.origin+${writeInlineJson(prefix)}}]}))`
  return composePage({
    title: 'Switchboard API',
    style,
    sources: {
      'script-src': ["'self'", hashSource(script)],
      // The reference writes style elements and attributes as it goes.
      'style-src': ["'self'", "'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
    },
    body: `<noscript>This page needs JavaScript. The same description is at <a href="${escapeHtml(prefix)}/openapi.json">openapi.json</a>.</noscript>
<div id="app"></div>
<script src="${escapeHtml(scriptUrl)}"></script>
<script>${script}</script>`,
  })
}
