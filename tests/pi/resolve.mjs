// Lets the extension's own tests find pi's packages as pi's loader does.
import { registerHooks } from "node:module";

registerHooks({
  resolve: (name, context, next) =>
    name.startsWith("@earendil-works/") ? next(name, { ...context, parentURL: import.meta.url }) : next(name, context),
});
