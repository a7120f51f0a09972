use std::fmt;

use http::Method;
use omniassist_server::Tool;
use omniassist_server::core::Limits;
use omniassist_server::tool::{StateMap, Tools};
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::arguments::Arguments;
use crate::auth::{Auth, Form};
use crate::document::{Body, BodyKind, Location, Operation, Parameter, Scheme, Style, Template, Wire};
use crate::schema::{Definitions, Detail, as_object};
use crate::selector::Selector;
use crate::server::{Server, redacted};
use crate::settings::{Settings, connection_setters};
use crate::{OpenApiError, endpoint};

/// A tool that calls one operation of an HTTP service, whose arguments are types.
///
/// The fields of the types become one object of arguments. The types are only read for their schemas.
///
/// ```
/// use omniassist_openapi::HttpTool;
/// use schemars::JsonSchema;
///
/// #[derive(JsonSchema)]
/// #[expect(dead_code, reason = "only the schema counts")]
/// struct Article {
///     /// The number of the article, such as `4711`.
///     article: String,
/// }
///
/// #[derive(JsonSchema)]
/// #[expect(dead_code, reason = "only the schema counts")]
/// struct Filter {
///     /// The site; without it, all sites.
///     site: Option<String>,
/// }
///
/// let stock = HttpTool::get("stock", "Stock of an article", "https://erp.internal/articles/{article}/stock")
///     .path::<Article>()
///     .query::<Filter>()
///     .secret_header("x-api-key", "secret")
///     .allow_hosts(["erp.internal"])
///     .select("/items/*/{site,pieces}")
///     .build()?;
/// assert_eq!(stock.name(), "stock");
/// # Ok::<(), omniassist_openapi::OpenApiError>(())
/// ```
#[must_use = "it is no tool until it is built"]
pub struct HttpTool {
    name: String,
    description: String,
    method: Method,
    url: String,
    generator: SchemaGenerator,
    path: Option<Value>,
    query: Vec<Value>,
    body: Option<Value>,
    auth: Option<Auth>,
    select: Option<String>,
    settings: Settings,
}

impl HttpTool {
    /// Creates a tool for a method. The URL is fixed but for its placeholders: `{name}` is replaced by the field `name` of
    /// the type of [`path`](Self::path), which cannot change the number of the URL's segments.
    pub fn new(
        method: Method,
        name: impl Into<String>,
        description: impl Into<String>,
        url: impl Into<String>,
    ) -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        Self {
            name: name.into(),
            description: description.into(),
            method,
            url: url.into(),
            generator: settings.into_generator(),
            path: None,
            query: Vec::new(),
            body: None,
            auth: None,
            select: None,
            settings: Settings::default(),
        }
    }

    /// Creates a tool for the method `GET`, which changes nothing.
    pub fn get(name: impl Into<String>, description: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(Method::GET, name, description, url)
    }

    /// Creates a tool for the method `POST`. Its calls need an approval; see
    /// [`approval_for_writes`](Self::approval_for_writes).
    pub fn post(name: impl Into<String>, description: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(Method::POST, name, description, url)
    }

    /// Creates a tool for the method `PUT`. Its calls need an approval.
    pub fn put(name: impl Into<String>, description: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(Method::PUT, name, description, url)
    }

    /// Creates a tool for the method `PATCH`. Its calls need an approval.
    pub fn patch(name: impl Into<String>, description: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(Method::PATCH, name, description, url)
    }

    /// Creates a tool for the method `DELETE`. Its calls need an approval.
    pub fn delete(name: impl Into<String>, description: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(Method::DELETE, name, description, url)
    }

    /// Sets the type whose fields fill the placeholders of the URL, each percent-encoded. Default: none, for a URL without
    /// placeholders.
    pub fn path<T: JsonSchema>(mut self) -> Self {
        self.path = Some(self.generator.subschema_for::<T>().to_value());
        self
    }

    /// Adds a type whose fields are query parameters. A list becomes a parameter for each item. A field that is absent or
    /// `null` is left out. Default: no query.
    pub fn query<T: JsonSchema>(mut self) -> Self {
        let schema = self.generator.subschema_for::<T>().to_value();
        self.query.push(schema);
        self
    }

    /// Sets the type of the body, which is sent as JSON. Default: no body.
    pub fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(self.generator.subschema_for::<T>().to_value());
        self
    }

    /// Sets the credentials for the `Authorization` header: `Bearer`, or `Basic` for [`Auth::basic`]. Default: none.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = Some(auth);
        self
    }

    /// Sets the part of a JSON response that the model reads: a JSON pointer in which `*` stands for every item, and whose
    /// last step can be a list of fields, as in `/items/*/{id,name}`. A response of another type is read as JSON too, and is an
    /// error if it is none. Default: the whole response.
    pub fn select(mut self, selector: impl Into<String>) -> Self {
        self.select = Some(selector.into());
        self
    }

    /// Makes the tool.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL, a placeholder, a type, a header or the selector does not fit, and if the rules for
    /// connections refuse the URL.
    pub fn build(mut self) -> Result<Tool, OpenApiError> {
        let (server, path) = Server::split(&self.url)?;
        let shown = redacted(&self.url);
        let wrong = |reason: &str| OpenApiError::configuration(format!("the URL {shown:?}: {reason}"));
        let template = Template::parse(path).map_err(wrong)?;
        if template.has_query() {
            return Err(wrong("use `query` for what follows the `?`"));
        }
        let definitions = self.generator.take_definitions(true);
        let root = json!({ "$defs": definitions });
        let mut parameters = Vec::new();
        let types = self.path.iter().map(|schema| (Location::Path, schema));
        for (location, schema) in types.chain(self.query.iter().map(|schema| (Location::Query, schema))) {
            add_fields(&mut parameters, location, resolved(&root, schema))?;
        }
        let is_path = |parameter: &&Parameter| parameter.location == Location::Path;
        let fields: Vec<&str> = parameters.iter().filter(is_path).map(|field| field.name.as_str()).collect();
        if let Some(name) = template.names().find(|name| !fields.contains(name)) {
            return Err(wrong(&format!("the type of `path` has no field for the placeholder {name:?}")));
        }
        if let Some(name) = fields.iter().find(|name| !template.names().any(|other| other == **name)) {
            return Err(wrong(&format!("it has no placeholder for the field {name:?}")));
        }
        let takes_body = !matches!(self.method, Method::GET | Method::HEAD);
        if self.body.is_some() && !takes_body {
            return Err(wrong("`GET` has no body"));
        }
        let operation = Operation {
            id: self.name.clone(),
            method: self.method,
            template,
            pointer: String::new(),
            tags: Vec::new(),
            summary: None,
            description: Some(self.description),
            parameters,
            body: self.body.map(|schema| Body {
                media_type: "application/json".to_owned(),
                kind: BodyKind::Json,
                required: true,
                schema,
                description: None,
            }),
            security: None,
            obstacle: None,
            remark: None,
        };
        let detail = Detail { patterns: true, levels: usize::MAX };
        let definitions = Definitions::new(&root, false, detail, "");
        let unfit = |reason: String| OpenApiError::configuration(format!("tool `{}`: {reason}", self.name));
        let arguments = Arguments::of(&operation, &[], definitions)?.map_err(unfit)?;
        let credentials = self.auth.into_iter().map(|auth| match auth.form {
            Form::Basic => (Scheme::Basic, auth),
            _ => (Scheme::Bearer, auth),
        });
        let selector = self.select.map(|selector| selector.parse::<Selector>()).transpose()?;
        let connection = self.settings.connect(server)?;
        let name = self.name.clone();
        let tool = endpoint::tool(name, &operation, arguments, &connection, credentials.collect(), selector);
        let checked = Tools::new(StateMap::new(), Limits::default()).register(tool.clone());
        checked.map_err(|error| {
            OpenApiError::configuration(format!("the tool cannot be registered: {error}")).with_source(error)
        })?;
        Ok(tool)
    }
}

fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

/// Adds the fields of a type as parameters.
fn add_fields(
    parameters: &mut Vec<Parameter>,
    location: Location,
    schema: &Value,
) -> Result<(), OpenApiError> {
    let place = location.name();
    let fields = as_object(schema).ok_or_else(|| {
        OpenApiError::configuration(format!("`{place}`: the type must be a struct with named fields"))
    })?;
    let (fields, required): (&Map<String, Value>, _) = fields;
    let (style, explode) =
        if location == Location::Path { (Style::Simple, false) } else { (Style::Form, true) };
    parameters.extend(fields.iter().map(|(name, schema)| Parameter {
        name: name.clone(),
        location,
        wire: Wire::Style { style, explode },
        required: location == Location::Path || required.contains(&name.as_str()),
        schema: schema.clone(),
        description: None,
    }));
    Ok(())
}

connection_setters!(HttpTool);

impl fmt::Debug for HttpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTool")
            .field("name", &self.name)
            .field("method", &self.method)
            .field("url", &redacted(&self.url))
            .finish_non_exhaustive()
    }
}
