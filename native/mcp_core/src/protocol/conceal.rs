//! Requests for entries that only some clients may see. The server's own code decides visibility
//! after admission. So admission prepares two outcomes. One is for clients that may see the entry.
//! All other clients get the same response as if the entry had never been declared.
//!
//! A request for an unknown name goes the same way, with a hidden entry as a stand-in. It takes a
//! place for calls and the time of a check, too. Otherwise clients could tell hidden names from
//! unknown ones.

use std::borrow::Cow;

use jsonschema::json::Json;

use super::admission::Admission;
use super::anonymous::Anonymous;
use super::context::Context;
use super::era::admit_request;
use super::limits::MessageLimits;
use super::meta;
use super::method::Method;
use super::refusal::Refusal;
use super::request::{Hidden, Input, Request, Work};
use crate::catalog::template::normal_form;
use crate::catalog::{Entry, ListKind, Offer, ReadTarget};
use crate::json::View;
use crate::jsonrpc::Id;
use crate::revision::Revision;

/// A request as received.
#[derive(Clone, Copy)]
pub(super) struct Asked<'r, 'd, 'a> {
    pub(super) context: Context<'r>,
    pub(super) id: &'r Id,
    pub(super) method: &'r str,
    pub(super) params: Option<View<'d, 'a>>,
    pub(super) limits: &'r MessageLimits,
}

impl<'a> Asked<'_, '_, 'a> {
    pub(super) fn admit<'c, J: Json>(self, offer: Offer<'c, '_, J>) -> Admission<'c, 'a> {
        let (revision, admission, unknown) = self.judge(offer);
        if self.needs_token(offer, revision) {
            let pretended = self.pretend_without_token(offer, revision);
            return pretended.unwrap_or(Admission::TokenRequired);
        }
        let admission = self.conceal(offer, revision, admission);
        if unknown || is_run_time(&admission) {
            return self.pretend(offer, revision, admission);
        }
        admission
    }

    /// The revision, the admission, and whether the request names something unknown.
    fn judge<'c, J: Json>(self, offer: Offer<'c, '_, J>) -> (Revision, Admission<'c, 'a>, bool) {
        let Self {
            context,
            id,
            method,
            params,
            limits,
        } = self;
        let (revision, admitted) = admit_request(offer, context, id, method, params, limits);
        let unknown = admitted.as_ref().is_err_and(|refusal| refusal.unknown);
        let admission = admitted
            .unwrap_or_else(|refusal| Admission::Answer(refusal.answer(Some(id), revision)));
        (revision, admission, unknown)
    }

    /// The request for an unknown name as if it named an entry that is hidden from its client.
    fn pretend<'c, J: Json>(
        self,
        offer: Offer<'c, '_, J>,
        revision: Revision,
        admission: Admission<'c, 'a>,
    ) -> Admission<'c, 'a> {
        let Some((method, entry)) = self.stand_in(offer, revision) else {
            return admission;
        };
        let answer = match admission {
            Admission::Answer(answer) => answer,
            Admission::Request(mut request) => {
                // The server's own code decides whether there is such a tool.
                request.stand_in = Some(entry);
                return Admission::Request(request);
            }
            other => return other,
        };
        self.like_hidden(offer, (revision, method, entry), Hidden::Answer(answer))
    }

    /// A request of a client without a token for a name that needs one, as if it named a public
    /// entry that is hidden from such clients. `None` if there is no such entry.
    fn pretend_without_token<'c, J: Json>(
        self,
        offer: Offer<'c, '_, J>,
        revision: Revision,
    ) -> Option<Admission<'c, 'a>> {
        if self.context.anonymous != Some(Anonymous::All) {
            return None;
        }
        let method = Method::find(self.method, revision)?;
        let (kinds, name) = self.subject(method)?;
        let entry = offer.stand_in_for(kinds, &name, |entry| offer.is_public(entry))?;
        let mut without = Vec::new();
        while let Some(named) = self
            .named(Offer::new(offer.all(), &without), method)
            .filter(|named| *named != Entry::RUN_TIME)
        {
            without.push(named);
        }
        let rest = Offer::new(offer.all(), &without);
        let hidden = Hidden::Token(Refusal::token_required().answer(None, Revision::NEWEST));
        Some(self.like_hidden(rest, (revision, method, entry), hidden))
    }

    /// The request with the stand-in for its unknown name.
    fn like_hidden<'c, J: Json>(
        self,
        offer: Offer<'c, '_, J>,
        (revision, method, entry): (Revision, Method, Entry),
        hidden: Hidden<'a>,
    ) -> Admission<'c, 'a> {
        let (_, like_hidden, _) = self.judge(offer.with_stand_in(entry));
        let mut request = match like_hidden {
            Admission::Request(request) => request,
            Admission::Answer(refusal) => {
                let mut request = self.refused(revision, method, entry);
                request.unmet = Some(refusal);
                Box::new(request)
            }
            other => return other,
        };
        request.hidden = Some(hidden);
        request.stand_in = Some(entry);
        Admission::Request(request)
    }

    /// The entry that stands in for the unknown name of the request.
    fn stand_in<J: Json>(
        self,
        offer: Offer<'_, '_, J>,
        revision: Revision,
    ) -> Option<(Method, Entry)> {
        let method = Method::find(self.method, revision)?;
        if self
            .named(offer, method)
            .is_some_and(|it| it != Entry::RUN_TIME)
        {
            return None;
        }
        let (kinds, name) = self.subject(method)?;
        Some((method, offer.stand_in_for(kinds, &name, |_| true)?))
    }

    /// The name of the entry that a request of the method is about, and the lists that may have it.
    fn subject(self, method: Method) -> Option<(&'static [ListKind], Cow<'a, str>)> {
        let text = |params: Option<View<'_, 'a>>, name: &str| params?.get(name)?.text();
        let reference = self.params.and_then(|params| params.get("ref"));
        Some(match method {
            Method::CallTool => (&[ListKind::Tools], text(self.params, "name")?),
            Method::GetPrompt => (&[ListKind::Prompts], text(self.params, "name")?),
            // Equivalent URIs have one stand-in: a hidden resource takes the same time for all of them.
            Method::ReadResource => (
                &[ListKind::Resources, ListKind::ResourceTemplates],
                Cow::Owned(normal_form(&text(self.params, "uri")?).into_owned()),
            ),
            Method::Complete if text(reference, "type")? == "ref/prompt" => {
                (&[ListKind::Prompts], text(reference, "name")?)
            }
            Method::Complete => (
                &[ListKind::ResourceTemplates, ListKind::Resources],
                Cow::Owned(normal_form(&text(reference, "uri")?).into_owned()),
            ),
            _ => return None,
        })
    }

    fn conceal<'c, J: Json>(
        self,
        offer: Offer<'c, '_, J>,
        revision: Revision,
        admission: Admission<'c, 'a>,
    ) -> Admission<'c, 'a> {
        let Some((method, entry)) = self.guarded(offer, revision) else {
            return admission;
        };
        let without = offer.without(entry);
        let rest = Offer::new(offer.all(), &without);
        let (_, hidden, _) = self.judge(rest);
        let hidden = self.conceal(rest, revision, hidden);
        // Without the entry this client would be asked for a token.
        let needs_token = self.needs_token(rest, revision);
        // The request was refused before the entry was looked up.
        if admission == hidden && !needs_token {
            return admission;
        }
        let hidden = match hidden {
            _ if needs_token => {
                Hidden::Token(Refusal::token_required().answer(None, Revision::NEWEST))
            }
            Admission::Answer(answer) => Hidden::Answer(answer),
            Admission::Request(request) => Hidden::Request(request),
            _ => return hidden,
        };
        let mut request = match admission {
            Admission::Request(request) => request,
            Admission::Answer(answer) => {
                let mut request = self.refused(revision, method, entry);
                request.unmet = Some(answer);
                Box::new(request)
            }
            _ => return admission,
        };
        request.hidden = Some(hidden);
        Admission::Request(request)
    }

    /// The entry that the request names, if only some clients may see it.
    fn guarded<J: Json>(
        self,
        offer: Offer<'_, '_, J>,
        revision: Revision,
    ) -> Option<(Method, Entry)> {
        if !offer.is_guarding() {
            return None;
        }
        let method = Method::find(self.method, revision)?;
        let entry = self.named(offer, method)?;
        offer.is_guarded(entry).then_some((method, entry))
    }

    pub(super) fn named<J: Json>(self, offer: Offer<'_, '_, J>, method: Method) -> Option<Entry> {
        let text = |params: Option<View<'_, 'a>>, name: &str| params?.get(name)?.text();
        let prompt = |name: &str| {
            let (index, _) = offer.find_prompt(name)?;
            Some(Entry::new(ListKind::Prompts, index))
        };
        match method {
            Method::CallTool => {
                let name = text(self.params, "name")?;
                let declared = offer.find_tool(&name);
                let declared = declared.map(|(index, _)| Entry::new(ListKind::Tools, index));
                declared.or(offer.has_run_time_tools().then_some(Entry::RUN_TIME))
            }
            Method::GetPrompt => prompt(&text(self.params, "name")?),
            Method::ReadResource => match offer.find_resource(&text(self.params, "uri")?)? {
                ReadTarget::Resource { index } => Some(Entry::new(ListKind::Resources, index)),
                ReadTarget::Template { index, .. } => {
                    Some(Entry::new(ListKind::ResourceTemplates, index))
                }
            },
            Method::Complete => {
                let reference = self.params?.get("ref");
                match text(reference, "type")?.as_ref() {
                    "ref/prompt" => prompt(&text(reference, "name")?),
                    "ref/resource" => completed(offer, &text(reference, "uri")?),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A request with a known error response. The server's code only decides whether the client may
    /// see the entry.
    fn refused(self, revision: Revision, method: Method, entry: Entry) -> Request<'a> {
        let name = match method {
            Method::ReadResource => "uri",
            _ => "name",
        };
        let name = self.params.and_then(|params| params.get(name)?.text());
        Request {
            id: self.id.clone(),
            revision,
            method,
            work: Work::Refused {
                name: name.unwrap_or_default(),
                entry,
            },
            meta: None,
            extra_meta: meta::extras(meta::of(self.params)),
            progress_token: None,
            client: meta::client(self.params).ok(),
            input: Input::default(),
            room: self.limits.json,
            unmet: None,
            hidden: None,
            stand_in: None,
        }
    }
}

/// Whether the request is for a tool that may have been declared at run time.
fn is_run_time(admission: &Admission<'_, '_>) -> bool {
    let Admission::Request(request) = admission else {
        return false;
    };
    match &request.work {
        Work::RunTimeTool { .. } => true,
        Work::Refused { entry, .. } => *entry == Entry::RUN_TIME,
        _ => false,
    }
}

fn completed<J: Json>(offer: Offer<'_, '_, J>, uri: &str) -> Option<Entry> {
    let template = offer.find_template(uri);
    let template = template.map(|(index, _)| Entry::new(ListKind::ResourceTemplates, index));
    let resource = || offer.resource_at(uri);
    template.or_else(|| Some(Entry::new(ListKind::Resources, resource()?)))
}
