//! What is a template, and what is a URI.

use mcp_core::catalog::template::{
    Template, TemplateError, TemplateLimits, VarValue, is_valid_uri,
};

use super::parse;

#[track_caller]
fn refuses(text: &str, expected: &TemplateError) {
    assert_eq!(parse(text).unwrap_err(), *expected, "{text}");
}

#[test]
fn a_template_names_its_variables_once_in_order() {
    let template = parse("test://{b}/{a,c}{?b,d}").unwrap();
    assert_eq!(template.variables(), ["b", "a", "c", "d"]);
    assert_eq!(parse("test://static").unwrap().variables(), [""; 0]);
}

#[test]
fn mistakes_are_refused_with_their_place() {
    refuses("test://{id", &TemplateError::Brace { at: 7 });
    refuses("test://id}", &TemplateError::Brace { at: 9 });
    refuses("test://{}", &TemplateError::Expression { at: 7 });
    refuses("test://{a b}", &TemplateError::Expression { at: 7 });
    refuses("test://{a,,b}", &TemplateError::Expression { at: 7 });
    refuses("test://{a:0}", &TemplateError::Expression { at: 7 });
    refuses("test://{a:10000}", &TemplateError::Expression { at: 7 });
    refuses("test://{ä}", &TemplateError::Expression { at: 7 });
    refuses("test://a b", &TemplateError::Literal { at: 8 });
    refuses("test://a%2", &TemplateError::Literal { at: 8 });
    refuses("test://a\u{7f}", &TemplateError::Literal { at: 8 });
    refuses("test://a\\b", &TemplateError::Literal { at: 8 });
}

// req: SEC-09
#[test]
fn exactly_8_kib_are_a_template_and_one_byte_more_is_not() {
    let text = format!("test://{}", "a".repeat(8 * 1024 - 7));
    assert_eq!(text.len(), 8192);
    assert!(parse(&text).is_ok());
    refuses(&format!("{text}a"), &TemplateError::TooLong { limit: 8192 });
}

// req: SEC-09
#[test]
fn exactly_32_variables_are_a_template_and_33_are_not() {
    let names = |count: usize| {
        (0..count)
            .map(|index| format!("v{index}"))
            .collect::<Vec<_>>()
    };
    let separate: String = names(32)
        .iter()
        .map(|name| format!("/{{{name}}}"))
        .collect();
    assert!(parse(&separate).unwrap().matcher().is_ok());
    let limit = TemplateError::TooManyVariables { limit: 32 };
    refuses(&format!("{separate}/{{more}}"), &limit);
    refuses(&format!("{{{}}}", names(33).join(",")), &limit);
    refuses(&"{a}/".repeat(33), &limit);
}

#[test]
fn limits_are_configurable() {
    let limits = TemplateLimits {
        max_bytes: 9,
        max_variables: 1,
    };
    let parse = |text| Template::parse(text, &limits).map(drop);
    assert_eq!(parse("test:{a}b"), Ok(()));
    assert_eq!(
        parse("test:{a}bc"),
        Err(TemplateError::TooLong { limit: 9 })
    );
    assert_eq!(
        parse("{a}/{b}"),
        Err(TemplateError::TooManyVariables { limit: 1 })
    );
}

#[test]
fn a_prefix_of_a_list_cannot_be_expanded() {
    let template = parse("test://{a:2}").unwrap();
    let list = |_: &str| Some(VarValue::List(vec!["x".to_owned()]));
    let error = TemplateError::PrefixOfComposite {
        name: "a".to_owned(),
    };
    assert_eq!(template.expand(&list), Err(error));
}

#[test]
fn a_uri_has_a_scheme_and_only_the_characters_of_rfc_3986() {
    for uri in [
        "test://static/1",
        "urn:isbn:0451450523",
        "file:///etc/hosts",
        "http://[::1]:80/a?b=c&d#e",
        "mailto:a@b.c",
        "a+b-c.1:x",
        "test:",
        "test://%F0%9F%A6%80",
    ] {
        assert!(is_valid_uri(uri), "{uri}");
    }
    for text in [
        "",
        "static",
        "/static/1",
        "//host/path",
        "?q",
        "1a:x",
        "test://a b",
        "test://%",
        "test://%2",
        "test://%zz",
        "test://{id}",
        "test://ä",
        "test://a\nb",
        "test://a\0",
        "test://\"",
        "te st:x",
        "http://[::1",
    ] {
        assert!(!is_valid_uri(text), "{text}");
    }
}
