import { operatorAppSecretsRetrieve, webhooksSubscriptionsList } from '@switchboard/client/methods'
import { client } from '../../data/http.ts'
import type { Node } from '../../data/types.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { Badge, To, When } from '../../ui/parts.tsx'
import { actFor } from './acting.ts'
import { FactRow, Facts } from './facts.tsx'
import { SignUp } from './sign-up/sign-up.tsx'

export function AppBody({ node }: { readonly node: Node }) {
  const secret = useLoaded(`secret ${node.id}`, () => operatorAppSecretsRetrieve(client, node.id))
  const list = useLoaded(node.id, async () => webhooksSubscriptionsList(await actFor(node), node.id))
  return (
    <>
      <p class="links">
        <To href={`/connect?app=${node.id}`}>Connect: secrets and subscription</To>
        <To href={`/access?app=${node.id}`}>Tokens</To>
        <To href={`/deliveries?app=${node.id}`}>Deliveries</To>
      </p>
      <section class="card">
        <h2>Subscription</h2>
        <Loaded
          of={list}
          what="the subscription"
          isEmpty={({ data }) => data.length === 0}
          empty={<p class="soft">The app is not subscribed to anything.</p>}
        >
          {({ data }) =>
            data.map(({ object, callback_url, fields }) => (
              <Facts key={object} of={[]}>
                <FactRow name="Callback URL">{callback_url}</FactRow>
                <FactRow name="Fields">
                  <span class="chips">
                    {fields.map((field) => (
                      <Badge key={field} tone="mono">
                        {field}
                      </Badge>
                    ))}
                  </span>
                </FactRow>
              </Facts>
            ))
          }
        </Loaded>
      </section>
      <section class="card">
        <h2>App secret</h2>
        <Loaded of={secret} what="the app secret">
          {({ created_time, previous }) => (
            <Facts of={[]}>
              <FactRow name="Created">
                <When at={created_time} />
              </FactRow>
              {previous && (
                <FactRow name="The earlier secret is valid until">
                  <When at={previous.until} />
                </FactRow>
              )}
            </Facts>
          )}
        </Loaded>
        <p class="soft">
          The app also has a token of its own: its ID and this secret, joined by <code>|</code>. A new secret replaces
          that token.
        </p>
      </section>
      <SignUp node={node} />
    </>
  )
}
